"""`SqliteAppender`: positions, partitions by key, ids, durability."""

import subprocess
import sys
import time
from binascii import crc32
from contextlib import closing

import pytest
from support.command_line import environment
from support.embedded_log import append, read, values

from iln_stream.errors import SinkError
from iln_stream.streams import Appended, NewRecord
from iln_stream.streams.sqlite import Retention, SqliteAppender, create_topic, topics, trim


def test_appended_records_are_read_in_order(path):
    """Records are read with the positions that `append` returned, and their keys and times."""
    first = append(path, [NewRecord(b"0", key="k", timestamp=12.5), NewRecord(b"1")])
    assert first == [Appended(0, 0), Appended(0, 1)]
    assert append(path, [b"2"]) == [Appended(0, 2)]
    found = read(path)
    assert [(r.offset, r.payload, r.key) for r in found] == [
        (0, b"0", "k"), (1, b"1", None), (2, b"2", None),
    ]  # fmt: skip
    assert found[0].timestamp == 12.5
    assert abs(time.time() - (found[1].timestamp or 0)) < 60


def test_a_key_chooses_the_partition(path):
    """A record goes to the partition of its key's CRC-32, and to partition 0 without a key."""
    create_topic(path, "events", n_partitions=3)
    keys = [f"sensor-{n}" for n in range(20)]
    found = append(path, [NewRecord(key.encode(), key=key) for key in keys])
    assert [each.partition for each in found] == [crc32(key.encode()) % 3 for key in keys]
    assert {each.partition for each in found} == {0, 1, 2}
    assert append(path, [b"{}"])[0].partition == 0
    for partition in range(3):
        at = [each.offset for each in found if each.partition == partition]
        assert at == list(range(len(at)))


def test_a_record_may_name_its_partition(path):
    """A record goes to the partition that it names; one that the topic lacks is an error."""
    create_topic(path, "events", n_partitions=3)
    found = append(path, [NewRecord(b"a", key="k", partition=2), NewRecord(b"b", partition=0)])
    assert found == [Appended(2, 0), Appended(0, 0)]
    with pytest.raises(SinkError, match="no partition 3; it has 3"):
        append(path, [NewRecord(b"c"), NewRecord(b"d", partition=3)])
    assert values(path) == [b"b"]


@pytest.mark.parametrize("n_partitions", [1, 4])
def test_an_id_is_appended_once(path, n_partitions):
    """A repeated id is not appended again, in one call or in another, whatever its key is now."""
    create_topic(path, "events", n_partitions)
    a, _, again = append(path, [NewRecord(b"a", id="1"), NewRecord(b"b"), NewRecord(b"c", id="1")])
    assert again == a._replace(is_new=False)
    later, new = append(path, [NewRecord(b"d", key="other", id="1"), NewRecord(b"e", id="2")])
    assert later == a._replace(is_new=False)
    assert new == Appended(0, 2)
    assert values(path) == [b"a", b"b", b"e"]


@pytest.mark.parametrize("together", [True, False])
@pytest.mark.parametrize("n_partitions", [1, 4])
def test_a_record_that_corrects_another(path, n_partitions, together):
    """It is appended if the newest record of its id has another value, and is no repeat then."""
    create_topic(path, "events", n_partitions)
    labels = [
        NewRecord(value, key="k", id="1", corrects=True)
        for value in (b"a", b"a", b"b", b"b", b"a", b"a")
    ]
    if together:
        found = append(path, labels)
    else:
        found = [place for label in labels for place in append(path, [label])]
    number = found[0].partition
    assert found == [
        Appended(number, 0), Appended(number, 0, False), Appended(number, 1),
        Appended(number, 1, False), Appended(number, 2), Appended(number, 2, False),
    ]  # fmt: skip
    assert values(path, partition=number) == [b"a", b"b", b"a"]
    (other,) = append(path, [NewRecord(b"c", key="k", id="1")])
    assert other == Appended(number, 2, False)


@pytest.mark.parametrize("text", ["Schlüssel", "\udcff\udc80 bytes", "", "a\x00b"])
def test_keys_and_ids_of_any_text(path, text):
    """Keys come back as they were, even if their bytes were not UTF-8; such an id is known."""
    record = NewRecord(b"a", key=text, id=text)
    append(path, [record])
    assert read(path)[0].key == text
    assert not append(path, [record])[0].is_new


def test_a_key_that_is_no_text_is_refused(path):
    """A key that has no bytes is refused, and nothing of its call is stored."""
    with closing(SqliteAppender(path, "events", "log")) as appender:
        with pytest.raises(SinkError, match="correct the key"):
            appender.append([NewRecord(b"a"), NewRecord(b"b", key="\ud800")])
        appender.append([NewRecord(b"c")])
    assert values(path) == [b"c"]


def test_a_call_that_returned_survives_a_kill(path):
    """Records are stored when `append` returns: a process that is killed then loses none."""
    program = (
        "import os, pathlib, signal, sys\n"
        "from iln_stream.streams import NewRecord\n"
        "from iln_stream.streams.sqlite import SqliteAppender\n"
        "appender = SqliteAppender(pathlib.Path(sys.argv[1]), 'events', 'log')\n"
        "for number in range(20):\n"
        "    appender.append([NewRecord(b'%d' % number)])\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    subprocess.run([sys.executable, "-c", program, str(path)], env=environment(), timeout=60)
    assert values(path) == [b"%d" % number for number in range(20)]


def test_several_processes_append(path):
    """Processes that append at the same time lose nothing, and each keeps its own order."""
    program = (
        "import pathlib, sys\n"
        "from iln_stream.streams import NewRecord\n"
        "from iln_stream.streams.sqlite import SqliteAppender\n"
        "appender = SqliteAppender(pathlib.Path(sys.argv[1]), 'events', 'log')\n"
        "for number in range(100):\n"
        "    appender.append([NewRecord(f'{sys.argv[2]} {number}'.encode())] * 2)\n"
    )
    running = [
        subprocess.Popen([sys.executable, "-c", program, str(path), name], env=environment())
        for name in "abc"
    ]
    assert [each.wait(120) for each in running] == [0, 0, 0]
    found = values(path)
    assert len(found) == 600
    for name in "abc":
        ours = [value for value in found if value.startswith(name.encode())]
        assert ours == [f"{name} {number // 2}".encode() for number in range(200)]


def test_offsets_are_never_used_again(path):
    """After all records were deleted, the next offset continues, also in a new process."""
    append(path, [b"a", b"b"])
    assert trim(path, "events", Retention(records=0)) == 2
    assert append(path, [b"c"]) == [Appended(0, 2)]
    assert topics(path)[0].partitions[0].first_offset == 2
