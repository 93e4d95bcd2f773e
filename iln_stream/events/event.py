"""A labelled (or unlabelled) event as it crosses the wire."""

from typing import Annotated

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, WithJsonSchema

Number = Annotated[float, Field(strict=True, allow_inf_nan=False)]
"""A finite double. Text such as "1.5" and booleans are not numbers."""

Boolean = Annotated[bool, Field(strict=True)]
Text = Annotated[str, Field(strict=True)]

Moment = Annotated[
    AwareDatetime,
    WithJsonSchema({"anyOf": [{"type": "string", "format": "date-time"}, {"type": "number"}]}),
]
"""A point in time: text with an offset, or a number."""


class Event(BaseModel):
    """The inputs x_t and, where known, the label y_t."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    x: dict[str, Number | Boolean | Text | None] = Field(
        description="Inputs by name. A string is one-hot encoded. Null and absent are the same: to "
        "the default learner 0, where 0 is an ordinary value of the input (an indicator, or one "
        "whose values lie around 0), else unknown."
    )
    y: Number | None = Field(
        default=None, description="The label. Null or absent: predict only, learn nothing."
    )
    id: Text | None = Field(default=None, description="The sender's own name for this event.")
    timestamp: Moment | None = Field(
        default=None,
        description="When it happened: RFC 3339 with an offset, or POSIX seconds "
        "(milliseconds from 2e10 on).",
    )


class Label(BaseModel):
    """The label of an event that came before, in a record of its own."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: Text = Field(description="The `id` of the event that this is the label of.")
    y: Number = Field(description="The label.")
    timestamp: Moment | None = Field(
        default=None, description="When the label became known, as in an event."
    )


class ClassEvent(Event):
    """An event whose label is a class."""

    y: Number | Boolean | Text | None = Field(  # type: ignore[assignment]
        default=None, description="The class. Null or absent: predict only, learn nothing."
    )


class ClassLabel(Label):
    """The class of an event that came before, in a record of its own."""

    y: Number | Boolean | Text = Field(description="The class.")  # type: ignore[assignment]
