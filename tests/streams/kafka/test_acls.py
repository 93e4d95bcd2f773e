"""docs/sources.md: the rights that it lists are enough, and each of them is needed."""

import json
import re
import shlex

import pytest
from kafka import KafkaAdminClient
from kafka.admin import (
    ACL,
    ACLFilter,
    ACLOperation,
    ACLPermissionType,
    ACLResourcePatternType,
    ResourcePattern,
    ResourcePatternFilter,
    ResourceType,
)
from support.document import blocks
from support.kafka_topics import create_topic, produce, read_topic
from support.secured_kafka import USER, secured_broker, settings

from iln_stream.errors import IlnError
from iln_stream.service import Service

PAGE = "sources.md"
TOPICS = ("orders", "deliveries", "orders-predictions", "orders-dead-letters")


@pytest.fixture(scope="module")
def secured(tmp_path_factory):
    """A broker where a user who logs in may do nothing without an ACL."""
    authorizer = {
        "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
        "super.users": "User:ANONYMOUS",  # the plain port, and the controller
    }
    with secured_broker(tmp_path_factory.mktemp("acls"), authorizer) as broker:
        for topic in TOPICS:
            create_topic(broker.broker.bootstrap, 2 if topic == "orders" else 1, name=topic)
        yield broker


def rights():
    """Return the ACLs that the page's commands add."""
    (text,) = (each for each in blocks(PAGE, "text") if "kafka-acls" in each)
    found = []
    for line in text.splitlines():
        words = shlex.split(line)
        given = {
            word: words[words.index(word) + 1]
            for word in ("--topic", "--group", "--transactional-id")
            if word in words
        }
        ((flag, name),) = given.items()
        kind = ResourceType[flag.removeprefix("--").replace("-", "_").upper()]
        literal = "prefixed" not in words
        pattern = ACLResourcePatternType.LITERAL if literal else ACLResourcePatternType.PREFIXED
        found += [
            ACL(
                f"User:{USER}", "*", ACLOperation[operation.upper()],
                ACLPermissionType.ALLOW, ResourcePattern(kind, name, pattern),
            )
            for operation in re.findall(r"--operation (\w+)", line)
        ]  # fmt: skip
    return found


def grant(secured, acls):
    """Give the user these rights and no others."""
    anything = ResourcePatternFilter(ResourceType.ANY, None, ACLResourcePatternType.ANY)
    all_of_them = ACLFilter(f"User:{USER}", "*", ACLOperation.ANY, ACLPermissionType.ANY, anything)
    with KafkaAdminClient(bootstrap_servers=secured.broker.bootstrap) as admin:
        admin.delete_acls([all_of_them])
        admin.create_acls(acls)


def production(secured, folder, client="kafka-python"):
    """Return settings of two topics, like the page's, with the page's login."""
    return settings(
        secured,
        "SCRAM-SHA-512",
        folder,
        source="kafka:orders",
        labels="kafka:deliveries",
        pending_events=100,
        predictions="kafka:orders-predictions",
        transactional=True,
        snapshots=str(folder / "state"),
        learner="pool",
        learner_options={"size": 16},
        kafka_client=client,
    )


@pytest.mark.parametrize(
    "client", ["kafka-python", pytest.param("confluent", marks=pytest.mark.thorough)]
)
def test_the_rights_are_enough(secured, client, tmp_path):
    """With the page's rights a run learns, publishes in transactions, and writes dead letters."""
    plain = secured.broker.bootstrap
    before = {topic: len(read_topic(plain, topic)) for topic in TOPICS}
    grant(secured, rights())
    produce(plain, "orders", [(None, b'{"x": {"a": 1}, "y": 2}')] * 10 + [(None, b"no event")])
    Service(production(secured, tmp_path, client)).run()
    published = read_topic(plain, "orders-predictions")[before["orders-predictions"] :]
    assert len(published) == 10
    assert len(read_topic(plain, "orders-dead-letters")) > before["orders-dead-letters"]
    assert {json.loads(each.value)["stream"] for each in published} == {"orders"}


@pytest.mark.thorough
@pytest.mark.parametrize("missing", range(len(rights())))
def test_each_right_is_needed(secured, missing, tmp_path):
    """Without any one of the page's rights, a run ends with an error."""
    acls = rights()
    acls.pop(missing)
    grant(secured, acls)
    produce(secured.broker.bootstrap, "orders", [(None, b'{"x": {"a": 1}, "y": 2}'), (None, b"?")])
    with pytest.raises(IlnError):
        Service(production(secured, tmp_path)).run()


@pytest.mark.parametrize(
    ("without", "said"),
    [
        (("Topic", "orders"), "there is no topic 'orders' .* or this run's user has no right"),
        (
            ("TransactionalId", None),
            r"lacks a right on its transactional id.*transactional = false",
        ),
        pytest.param(
            ("Topic", "orders-predictions"),
            "lacks a right on the topic",
            marks=pytest.mark.thorough,
        ),
    ],
)
def test_a_missing_right_is_named(secured, without, said, tmp_path):
    """The error says on what a right is missing, not with which request the broker was asked."""
    kind, name = without
    kept = [
        acl
        for acl in rights()
        if acl.resource_pattern.resource_type.name.replace("_", "").lower() != kind.lower()
        or (name is not None and acl.resource_pattern.resource_name != name)
    ]
    assert len(kept) < len(rights())
    grant(secured, kept)
    produce(secured.broker.bootstrap, "orders", [(None, b'{"x": {"a": 1}, "y": 2}')])
    with pytest.raises(IlnError, match=said):
        Service(production(secured, tmp_path)).run()
