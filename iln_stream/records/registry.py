"""Fields of records in Avro or JSON with a schema registry. Needs the extra `registry`."""

import json
import logging
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

from confluent_kafka.schema_registry import Schema, SchemaRegistryClient
from confluent_kafka.schema_registry.avro import AvroDeserializer
from confluent_kafka.schema_registry.error import SchemaRegistryError
from confluent_kafka.schema_registry.json_schema import JSONDeserializer

from iln_stream.errors import SourceError
from iln_stream.records.decoding import MalformedError, check_size
from iln_stream.records.parsing import parse_json
from iln_stream.records.values import plain
from iln_stream.reporting import MetricSpec

log = logging.getLogger(__name__)

_SIZE_OF_HEADER = {0: 1 + 4, 1: 1 + 16}
"""Bytes before the data, by the first of them: a number of a schema follows, or its UUID."""

_UNKNOWN = (40401, 40402, 40403)
"""The registry's codes for a subject, version or schema that it does not have."""

_PASSING = (408, 425, 429, 500, 502, 503, 504)
"""Statuses of HTTP after which a later attempt may succeed."""

_PAUSE, _TIMEOUT = 0.5, 5
"""Seconds between two attempts, and of one attempt at most."""


class RegistryError(SourceError):
    """The registry gives no schema, so records can't be read, though they may be good."""


class RegistryParser:
    """Makes fields of records that a schema registry's serialiser wrote.

    Each record is read with the schema that it was written with, so one record gives the same
    fields whenever it is read, whatever versions were registered since.

    Parameters
    ----------
    form
        `avro`, or `json-schema`: JSON that is checked against its schema.
    options
        Options of confluent-kafka's `SchemaRegistryClient`; `url` at least.
    patience
        Seconds for which a registry that does not answer is asked again.

    Raises
    ------
    RegistryError
        When the options are wrong, or no registry answers. From a call: when the registry gives no
        answer, or refuses one. An unknown schema is a `MalformedError`.

    """

    def __init__(
        self, form: Literal["avro", "json-schema"], options: Mapping[str, Any], patience: float
    ) -> None:
        try:
            self._client = _PatientClient(options, patience)
        except (ValueError, TypeError, OSError) as error:
            raise RegistryError(f"registry, registry_options: {error}") from None
        # The subject is only needed to look up rules and a reader's schema.
        options = {"subject.name.strategy": lambda *_: None}
        self._is_json = form == "json-schema"
        self._read: Callable[[bytes, None], Any] = (
            JSONDeserializer(None, schema_registry_client=self._client, conf=options)
            if self._is_json
            else AvroDeserializer(self._client, conf=options)
        )
        self._client.get_subjects()

    def __call__(self, payload: bytes | Mapping[str, Any] | None) -> Mapping[str, Any]:
        """Return the fields of a record.

        Raises
        ------
        MalformedError
            When no serialiser of a registry wrote it, when the registry does not know its schema,
            or when it does not fit its schema.
        RegistryError
            When the registry gives no answer.

        """
        if not isinstance(payload, bytes):
            raise MalformedError("the record has no value; it should begin with a schema's number")
        check_size(payload)
        size = _SIZE_OF_HEADER.get(payload[0]) if payload else None
        if size is None or len(payload) <= size:
            raise MalformedError(
                f"record: no serialiser of a schema registry wrote it, as it begins with "
                f"{payload[:5]!r} instead of a zero byte and a schema's number; correct the "
                "sender, or the setting format"
            )
        try:
            fields = self._read(payload, None)
        except (MalformedError, SourceError):
            raise
        except Exception as error:  # of many kinds, depending on what is wrong
            problem = f"{type(error).__name__}: {error}"[:200]
            raise MalformedError(f"record: it does not fit its schema: {problem}") from None
        if not isinstance(fields, dict):
            raise MalformedError(
                f"record: its schema has no fields: it is a {type(fields).__name__}, not a record"
            )
        return parse_json(payload[size:]) if self._is_json else plain(fields)

    def metrics(self) -> Sequence[MetricSpec]:
        """Return the count of retries."""
        return (retries_metric(lambda: self._client.n_retries),)


def retries_metric(read: Callable[[], float]) -> MetricSpec:
    """Return the metric of requests that a registry did not answer."""
    return MetricSpec(
        "iln_registry_retries_total",
        "counter",
        "Requests that the schema registry did not answer and that were sent again.",
        read,
        of_process=True,
    )


class _PatientClient(SchemaRegistryClient):  # type: ignore[misc]
    """A client that asks again for a while, and tells an unknown schema from a failure."""

    def __init__(self, options: Mapping[str, Any], patience: float) -> None:
        super().__init__({"timeout": _TIMEOUT, "max.retries": 0, **options})
        self._url = options["url"]
        self._patience = patience
        self.n_retries = 0
        self._fields: dict[str, set[str]] = {}  # of the schemas so far, by their texts

    def get_subjects(self, *args: Any, **options: Any) -> list[str]:
        return self._ask(super().get_subjects, *args, **options)  # type: ignore[no-any-return]

    def get_schema(self, *args: Any, **options: Any) -> Schema:
        return self._noted(self._ask(super().get_schema, *args, **options))

    def get_schema_by_guid(self, *args: Any, **options: Any) -> Schema:
        return self._noted(self._ask(super().get_schema_by_guid, *args, **options))

    def get_version(self, *args: Any, **options: Any) -> Any:
        """Return a schema that another one refers to."""
        return self._ask(super().get_version, *args, **options)

    def _noted(self, schema: Schema) -> Schema:
        """Log how the fields of a schema differ from those of the schema before."""
        text = schema.schema_str or ""
        if text not in self._fields:
            if schema.schema_type == "AVRO":
                _check_arrays(json.loads(text), {"null"})
            before = next(reversed(self._fields.values()), None)
            fields = self._fields[text] = _names(json.loads(text or "{}"))
            if before is not None:
                parts = [
                    f"{what} {', '.join(sorted(names))}"
                    for what, names in (("with", fields - before), ("without", before - fields))
                    if names
                ]
                log.info(
                    "the first record of another schema; compared to the one before: "
                    + ("; ".join(parts) or "the same fields")
                )
        return schema

    def _ask(self, question: Callable[..., Any], *args: Any, **options: Any) -> Any:
        give_up = time.monotonic() + self._patience
        waits = False
        while True:
            try:
                return question(*args, **options)
            except SchemaRegistryError as error:
                if error.error_code in _UNKNOWN:
                    raise MalformedError(
                        f"record: the registry at {self._url} does not know its schema: "
                        f"{error.error_message}"
                    ) from None
                problem = f"HTTP {error.http_status_code}, {error.error_message}"
                if error.http_status_code not in _PASSING:
                    raise RegistryError(
                        f"the registry at {self._url} refuses: {problem}. {_advice(error)}"
                    ) from None
            except Exception as error:  # no connection, no certificate, an answer that is no JSON
                problem = f"{type(error).__name__}: {error}"
            if time.monotonic() >= give_up:
                raise RegistryError(
                    f"no answer from the registry at {self._url} for {self._patience:g} s: "
                    f"{problem}. Start it, or correct registry"
                )
            if not waits:
                log.warning(
                    f"no answer from the registry at {self._url}: {problem}; asking again for "
                    f"{self._patience:g} s"
                )
                waits = True
            time.sleep(min(_PAUSE, self._patience))
            self.n_retries += 1


def _names(schema: Any) -> set[str]:
    """Return the names of a schema's fields, and of the records in it."""
    if isinstance(schema, list):
        return {name for each in schema for name in _names(each)}
    if not isinstance(schema, dict):
        return set()
    own = [schema["name"]] if isinstance(schema.get("name"), str) else schema.get("properties", ())
    return {*own, *_names([*schema.values()])}


def _check_arrays(kind: Any, empty: set[str]) -> bool:
    """Return whether values of an Avro type take no bytes; `empty` are the names of such types.

    Raises
    ------
    MalformedError
        When it has an array of them: a few bytes could say that there are any number.

    """
    if isinstance(kind, list):  # a union, whose values begin with the number of their type
        for each in kind:
            _check_arrays(each, empty)
        return False
    if not isinstance(kind, dict):
        return kind in empty
    name, within = kind.get("type"), [each["type"] for each in kind.get("fields", ())]
    takes_none = [_check_arrays(each, empty) for each in within]
    if name == "array" and _check_arrays(kind["items"], empty):
        raise MalformedError(
            "record: its schema has an array whose items take no bytes, so that a record could "
            "have any number of them: remove it, or give the items a field"
        )
    if name == "map":
        _check_arrays(kind["values"], empty)
    if name in ("record", "error", "fixed"):
        is_empty = kind["size"] == 0 if name == "fixed" else all(takes_none)
        if is_empty:
            empty |= {kind["name"], f"{kind.get('namespace', '')}.{kind['name']}"}
        return is_empty
    return _check_arrays(name, empty) if name != "array" else False


def _advice(error: SchemaRegistryError) -> str:
    if error.http_status_code in (401, 403):
        return "Set registry_secrets (basic.auth.user.info: a file with name:password)"
    if error.http_status_code == 404:
        return "Correct the path in registry: Apicurio's, for instance, is /apis/ccompat/v7"
    return "Correct registry or registry_options"
