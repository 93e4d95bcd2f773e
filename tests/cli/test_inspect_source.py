"""`iln-stream inspect-source`: the fields of a source, and settings that learn them."""

import json
import tomllib


def test_names_are_printed_as_they_are(command, tmp_path):
    """Names and reasons with brackets or colons reach the table and the TOML file unchanged."""
    records = [{"temp [red]": str(i), ":smile:": i % 3, "price [EUR]": i / 2} for i in range(40)]
    lines = [json.dumps(record) for record in records]
    (tmp_path / "a.jsonl").write_text("\n".join([*lines, '{"[bold]": 1, "[bold]": 2}']))
    done = command("inspect-source", "a.jsonl")
    assert done.code == 0, done.err
    table = done.err
    for name in ("temp [red]", ":smile:", "price [EUR]", "[bold]: this key occurs"):
        assert name in table
    settings = tomllib.loads(done.out)
    assert settings["target"] == "price [EUR]"
    assert settings["types"] == {"temp [red]": "number"}


def test_a_record_whose_fields_hide_one_another(command, tmp_path):
    """A record that cannot be flattened is reported, and the others are shown."""
    (tmp_path / "a.jsonl").write_text('{"a": {"b": 1}, "a.b": 2}\n{"c": 1, "price": 2}\n')
    done = command("inspect-source", "a.jsonl")
    assert done.code == 0, done.err
    assert "1 records can't be read; the first: offset 0: a.b: two fields" in done.err
    assert 'target = "price"' in done.out


def test_a_label_of_classes(command, tmp_path):
    """If most labels are texts or booleans, the settings name the learner of classes."""
    for values in (["cat", "dog", "3"], [True, False, True]):
        lines = [json.dumps({"a": i, "label": values[i % 3]}) for i in range(40)]
        (tmp_path / "a.jsonl").write_text("\n".join(lines))
        settings = tomllib.loads(command("inspect-source", "a.jsonl").out)
        assert settings["target"] == "label"
        assert settings["learner"] == "infinite-layer-classifier"
