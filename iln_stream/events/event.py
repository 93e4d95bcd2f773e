"""The messages that the service reads: events, and labels that come later."""

from typing import Annotated

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, WithJsonSchema

Number = Annotated[float, Field(strict=True, allow_inf_nan=False)]
"""A finite double. Strings such as "1.5" and booleans are not numbers."""

Weight = Annotated[float, Field(strict=True, allow_inf_nan=False, ge=0.0)]
"""How much an event counts when it is learned: a finite number, not negative."""

Boolean = Annotated[bool, Field(strict=True)]
Text = Annotated[str, Field(strict=True)]

Inputs = dict[str, Number | Boolean | Text | None]
"""Inputs of an event by name, before they are encoded as numbers."""

Moment = Annotated[
    AwareDatetime,
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "string", "format": "date-time"},
                {
                    "type": "number",
                    "minimum": -62_135_596_800_000,
                    "exclusiveMaximum": 253_402_300_800_000,
                },
            ]
        }
    ),
]
"""A time of the years 1 to 9999: a string with a UTC offset, or a number."""


class Event(BaseModel):
    """The inputs x_t and, if it is known, the label y_t."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    x: Inputs = Field(
        description="Inputs by name. A string is one-hot encoded. A null is the same as an absent "
        "input: the default learner takes 0 if 0 is an ordinary value of the input (an indicator, "
        "or values around 0), or else treats it as unknown."
    )
    y: Number | None = Field(
        default=None, description="The label. Null or absent: the event is only predicted."
    )
    id: Text | None = Field(default=None, description="The sender's id of this event.")
    timestamp: Moment | None = Field(
        default=None,
        description="When it happened: RFC 3339 with an offset, or POSIX seconds "
        "(numbers from 2e10 on are milliseconds).",
    )
    weight: Weight | None = Field(
        default=None,
        description="How much the event counts when it is learned, for a learner that takes "
        "weights; 1 by default.",
    )


class Label(BaseModel):
    """The label of an earlier event, in a record of its own."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: Text = Field(description="The `id` of the labelled event.")
    y: Number = Field(description="The label.")
    timestamp: Moment | None = Field(
        default=None,
        description="When the label became known, as in an event; the delay is counted from the "
        "event's time. Labels are learned in order of arrival.",
    )
    weight: Weight | None = Field(
        default=None, description="As in an event; by default that of the labelled event."
    )


class ClassEvent(Event):
    """An event whose label is a class."""

    y: Number | Boolean | Text | None = Field(  # type: ignore[assignment]
        default=None, description="The class. Null or absent: the event is only predicted."
    )


class ClassLabel(Label):
    """The class of an earlier event, in a record of its own."""

    y: Number | Boolean | Text = Field(description="The class.")  # type: ignore[assignment]
