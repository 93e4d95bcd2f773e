"""A decoder that was edited is noticed."""

import json
import sys
import warnings

import pytest
from support.embedded_log import append, settings_of

from iln_stream.errors import IlnWarning
from iln_stream.service import Service
from iln_stream.snapshots.code import code_of
from iln_stream.snapshots.follower import Follower
from iln_stream.snapshots.versions import Versions

DECODER = "import json\n\n\ndef fields(data):\n    return json.loads(data)\n"


def test_an_edited_decoder_is_noticed(tmp_path):
    """The next start names the file and what to do, once; versions have the digest of theirs."""
    file = tmp_path / "own_decoder.py"
    file.write_text(DECODER)
    append(tmp_path / "log.db", [json.dumps({"a": n, "y": n}).encode() for n in range(20)])
    settings = settings_of(
        tmp_path / "log.db", snapshots="state", publish="models", decoder="own_decoder:fields",
        target="y", learner="pool", learner_options={"size": 16},
    )  # fmt: skip
    Service(settings).run()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Service(settings).run()
    file.write_text(DECODER + "# edited\n")
    append(tmp_path / "log.db", [b'{"a": 1, "y": 2}'])
    with pytest.warns(IlnWarning, match=r"own_decoder\.py was edited since .* rebuild"):
        Service(settings).run()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Service(settings).run()
    del sys.modules["own_decoder"]
    headers = [each for _, each in Versions(tmp_path / "models/log-events-0.model").headers()]
    assert len({header.code["own_decoder"] for header in headers}) == 2
    assert Follower(tmp_path / "models/log-events-0.model").refresh()


def test_whose_code_counts(tmp_path):
    """Modules of the user's, wherever settings name them; no libraries, and no other texts."""
    (tmp_path / "mine.py").write_text("")
    named = {
        "learner": "river.linear_model:LinearRegression",
        "challengers": {"own": {"learner": "mine:model"}},
        "fields": {"id_field": "user:id", "null_values": ["n:a"], "decoder": "json:loads"},
        "learner_options": {"features": "broken.inner:family"},
    }
    (tmp_path / "user.py").write_text("")
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken/__init__.py").write_text("1 / 0")
    assert [*code_of(named)] == ["mine"]
