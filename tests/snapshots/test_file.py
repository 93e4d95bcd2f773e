"""A snapshot's file: what was written is read, or it is said that it isn't."""

import hashlib
import io
import json
import re
import tracemalloc
import zipfile

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from iln_stream.errors import SnapshotError, StateError
from iln_stream.snapshots import CorruptSnapshotError, Header, Snapshot
from iln_stream.state import from_bytes, pack
from iln_stream.streams import StreamPartition

HEADER = Header(
    stream="events",
    positions={StreamPartition("events", 0): 5},
    topic_id=None,
    n_partitions=1,
    epoch=1,
    configuration={"learner": "pool"},
    seed=1,
    saved_at="2026-01-31T12:00:00.000+00:00",
)
STATE = {"alpha": np.linspace(-1, 1, 50), "n": 3, "name": "ünï", "nothing": None}


def written(snapshot):
    file = io.BytesIO()
    snapshot.write(file)
    return file.getvalue()


WRITTEN = written(Snapshot(HEADER, STATE))
CONTENT = WRITTEN.partition(b"\n")[2]


def of_version(version, content=CONTENT):
    """Return the file as a release with this version of the format would write it."""
    digest = hashlib.sha256(version.encode() + content).hexdigest()
    return f"iln-stream snapshot {version} sha256:{digest}\n".encode() + content


def test_round_trip(make):
    """Header and state come back to the last bit, infinities and nan included."""
    snapshot = make()
    read = Snapshot.from_bytes(written(snapshot))
    assert read.header == snapshot.header
    arrays, text = pack(read.state)
    expected_arrays, expected_text = pack(snapshot.state)
    assert text == expected_text
    assert {name: array.tobytes() for name, array in arrays.items()} == {
        name: array.tobytes() for name, array in expected_arrays.items()
    }


def test_first_line_tells_version_and_checksum():
    """A person, and any program, can tell what the file is and whether it is whole."""
    first, _, content = WRITTEN.partition(b"\n")
    digest = hashlib.sha256(b"3.0" + content).hexdigest()
    assert first.decode() == f"iln-stream snapshot 3.0 sha256:{digest}"


def test_header_and_state_follow():
    """The header is JSON in a line of its own, and the rest is the state as everywhere else."""
    _, header, state = WRITTEN.split(b"\n", 2)
    assert json.loads(header)["stream"] == "events"
    assert pack(from_bytes(state))[1] == pack(STATE)[1]


def test_the_same_bytes():
    """Equal snapshots are equal files."""
    assert written(Snapshot(HEADER, STATE)) == WRITTEN


@settings(deadline=None, max_examples=100)
@given(place=st.integers(0, len(WRITTEN) - 1), bit=st.integers(0, 7))
def test_no_flipped_bit_goes_unnoticed(place, bit):
    """Whichever bit the disk changes, the file is refused."""
    damaged = bytearray(WRITTEN)
    damaged[place] ^= 1 << bit
    with pytest.raises(SnapshotError):
        Snapshot.from_bytes(bytes(damaged))


@settings(deadline=None, max_examples=100)
@given(length=st.integers(0, len(WRITTEN) - 1))
def test_no_cut_goes_unnoticed(length):
    """A file that ends too soon is refused, wherever it ends."""
    with pytest.raises(CorruptSnapshotError):
        Snapshot.from_bytes(WRITTEN[:length])


def test_other_major_version_is_refused_and_not_corrupt():
    """A format of the future isn't taken for damage: falling back would forget what was learned."""
    with pytest.raises(SnapshotError, match=r"is 4\.0, and .* reads 2\.x and 3\.x") as caught:
        Snapshot.from_bytes(of_version("4.0"))
    assert not isinstance(caught.value, CorruptSnapshotError)


def test_newer_minor_version_is_read():
    """A later release of the same major version adds, and takes nothing away."""
    assert Snapshot.from_bytes(of_version("3.9")).header == HEADER


@pytest.mark.parametrize("damaged", [b"1.0", b"7.0", b";.0", b"300", b"3.1"])
def test_a_damaged_version_is_damage(damaged):
    """A flipped bit in the version is not taken for another release's file, so that a run falls
    back to the snapshot before."""
    with pytest.raises(CorruptSnapshotError):
        Snapshot.from_bytes(WRITTEN.replace(b"snapshot 3.0", b"snapshot " + damaged, 1))


def test_positions_of_release_0_2_0():
    """Its snapshots numbered the partitions, those of labels -1, -2 and so on; all are resumed."""
    labels, history = {"stream": "my labels"}, {"start": {"0": 3, "-1": 4}}
    stored = HEADER.as_json() | {
        "positions": {"0": 5, "1": 6, "-1": 7, "-2": 8},
        "configuration": {"labels": labels, "history": history},
    }
    content = json.dumps(stored | {"blocks": []}).encode() + b"\n" + WRITTEN.split(b"\n", 2)[2]
    read = Snapshot.from_bytes(of_version("2.0", content))
    assert read.header.positions == {
        ("events", 0): 5, ("events", 1): 6, ("my labels", 0): 7, ("my labels", 1): 8,
    }  # fmt: skip
    assert read.header.configuration["history"]["start"] == {"events:0": 3, "my labels:0": 4}


def test_a_pickle_among_the_arrays_is_not_run():
    """A file made by hand, its checksum right, doesn't get us to unpickle."""
    array, body = io.BytesIO(), io.BytesIO()
    np.save(array, np.array([print], dtype=object), allow_pickle=True)
    with zipfile.ZipFile(body, "w") as file:
        file.writestr("arrays/evil.npy", array.getvalue())
    content = WRITTEN.split(b"\n", 2)[1] + b"\n" + body.getvalue()
    with pytest.raises(CorruptSnapshotError, match="allow_pickle=False"):
        Snapshot.from_bytes(of_version("3.0", content))


def test_a_decompression_bomb_is_refused():
    """A file whose entries are compressed, which none of ours is, is refused before they are
    unpacked: a small one could take all memory."""
    body = io.BytesIO()
    with zipfile.ZipFile(body, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("arrays/zeros.npy", bytes(50_000_000))
    tracemalloc.start()
    with pytest.raises(StateError, match="compressed"):
        from_bytes(body.getvalue())
    assert tracemalloc.get_traced_memory()[1] < 5_000_000
    tracemalloc.stop()


def test_configuration_hash(make):
    """The hash depends on the configuration and on nothing else, not on the order of its keys."""
    first = make(configuration={"a": 1, "b": {"c": 2}}).header.configuration_hash
    assert make(configuration={"b": {"c": 2}, "a": 1}, epoch=9).header.configuration_hash == first
    assert make(configuration={"a": 1, "b": {"c": 3}}).header.configuration_hash != first
    assert re.fullmatch("[0-9a-f]{64}", first)
