"""Rewrites the table of docs/fields.md: what texts are read as, with an example of each form."""

from pathlib import Path

from generated import rewritten_part

PAGE = Path(__file__).parent / "fields.md"

FORMS: tuple[tuple[str, str, str, dict[str, str], float | str], ...] = (
    ("a number", "21.5", "auto", {}, 21.5),
    ("with a decimal comma", "1.250,5", "number", {"decimal": ","}, 1250.5),
    ("commas between thousands", "1,204", "amount", {}, 1204.0),
    ("apostrophes", "10'951.00", "amount", {}, 10951.0),
    ("blanks, also narrow ones", "10 951,00", "amount", {"decimal": ","}, 10951.0),
    ("lakh", "1,23,456", "amount", {}, 123456.0),
    ("a currency", "$191.31", "amount in $", {}, 191.31),
    ("a currency after it", "1.250,00 EUR", "amount in EUR", {"decimal": ","}, 1250.0),
    ("a unit", "24.6 °C", "amount in °C", {}, 24.6),
    ("a footnote", "12.3p", "amount in p", {}, 12.3),
    ("per cent", "5.3%", "amount in %", {}, 5.3),
    ("K, M or B", "69.21K", "amount", {}, 69210.0),
    ("thousands in words", "69 Tsd. €", "amount in €", {}, 69000.0),
    ("dots between thousands", "1.204", "number", {"decimal": ","}, 1204.0),
    ("no decimals", "1'204.-", "amount", {}, 1204.0),
    ("parentheses", "(10.2)", "amount", {}, -10.2),
    ("about", "~69", "amount", {}, 69.0),
    ("text of a spreadsheet", '="69.2"', "amount", {}, 69.2),
    ("a duration as a clock", "1:40:17", "duration", {}, 6017.0),
    ("a duration in words", "1h 40m", "duration", {}, 6000.0),
    ("a duration in ISO 8601", "PT1H40M", "duration", {}, 6000.0),
    ("another minus sign", "−3.1", "amount", {}, -3.1),
    ("a boolean", "true", "auto", {}, 1.0),
    ("a category", "clear", "auto", {}, "clear"),
    ("a time in ISO 8601", "2026-01-31T12:00:00Z", "time", {}, 1769860800.0),
    ("without leading zeros", "2026-1-31 0:30", "time", {}, 1769819400.0),
    ("POSIX milliseconds", "1769860800000", "time", {}, 1769860800.0),
    ("day first", "31.01.2026 12:00", "time", {"date_order": "dmy"}, 1769860800.0),
    ("short year", "31/01/26", "time", {"date_order": "dmy"}, 1769817600.0),
    ("AM and PM", "1/31/2026 12:30 AM", "time", {"date_order": "mdy"}, 1769819400.0),
    ("the end of a day", "2026-01-30 24:00", "time", {}, 1769817600.0),
    ("UTC", "2026-01-31 12:00 UTC", "time", {}, 1769860800.0),
    ("a zone by name", "2026-01-31 13:00 CET", "time", {}, 1769860800.0),
    ("a month by name", "31-Jan-2026", "time", {}, 1769817600.0),
    ("in French", "31 janv. 2026 12h00", "time", {}, 1769860800.0),
    ("in German", "31. Jänner 2026", "time", {}, 1769817600.0),
    ("in Spanish", "31 de enero de 2026", "time", {}, 1769817600.0),
    ("in Korean or Chinese", "2026年1月31日", "time", {}, 1769817600.0),
    ("in Russian", "31 января 2026", "time", {}, 1769817600.0),
    ("in Polish", "31 stycznia 2026", "time", {}, 1769817600.0),
    ("in Czech", "31. ledna 2026", "time", {}, 1769817600.0),
    ("in Turkish", "31 Ocak 2026", "time", {}, 1769817600.0),
    ("AM and PM in Korean", "2026-01-31 오후 12:00", "time", {}, 1769860800.0),
    ("a weekday", "Sa, 31.01.2026 um 12:00 Uhr", "time", {"date_order": "dmy"}, 1769860800.0),
    ("blanks after dots", "31. 1. 2026", "time", {"date_order": "dmy"}, 1769817600.0),
    ("in science notation", "1.7698608E+12", "time", {}, 1769860800.0),
    ("RFC 1123", "Sat, 31 Jan 2026 12:00:00 GMT", "time", {}, 1769860800.0),
    ("a month", "2026-01", "time", {}, 1767225600.0),
    (
        "a period",
        "31.01.2026 12:00 - 31.01.2026 13:00",
        "time",
        {"date_order": "dmy"},
        1769860800.0,
    ),
    ("a month, short year", "Jan 26", "time %b %y", {}, 1767225600.0),
    ("a quarter", "2026Q1", "time", {}, 1767225600.0),
    ("a year and a quarter", "2026.1", "time %Y.%q", {}, 1767225600.0),
    ("a week", "2026-W02", "time", {}, 1767571200.0),
    ("a week in words", "KW 2/2026", "time", {}, 1767571200.0),
    ("a year and a week", "202602", "time %G%V", {}, 1767571200.0),
    ("a year and a day", "2026-031", "time %Y-%j", {}, 1769817600.0),
    ("a year with decimals", "2026.25", "time years", {}, 1775088000.0),
    ("digits alone, 8, 12 or 14", "20260131", "time", {}, 1769817600.0),
    ("a month and a year", "01.2026", "time %m.%Y", {}, 1767225600.0),
    ("a year and a month", "2026.01", "time %Y.%m", {}, 1767225600.0),
    ("October as a number", "2025.1", "time %Y.%m", {}, 1759276800.0),
    ("short year first", "26-01-31", "time %y-%m-%d", {}, 1769817600.0),
    ("other digits", "2026013112", "time %Y%m%d%H", {}, 1769860800.0),
    ("a year", "2026", "time %Y", {}, 1767225600.0),
    ("days of Excel", "46053.5", "time days since 1899-12-30", {}, 1769860800.0),
    ("the same since 1904", "44591.5", "time days since 1904-01-01", {}, 1769860800.0),
    ("seconds of GPS", "1453896000", "time seconds since 1980-01-06", {}, 1769860800.0),
    ("ticks of .NET", "639054576000000000", "time ticks since 0001-01-01", {}, 1769860800.0),
    ("ticks of Windows", "134143344000000000", "time ticks since 1601-01-01", {}, 1769860800.0),
    ("short year, month", "2601", "time %y%m", {}, 1767225600.0),
    ("modified Julian days", "61071.5", "time days since 1858-11-17", {}, 1769860800.0),
    ("days since 1970", "20484", "time days since 1970-01-01", {}, 1769817600.0),
)
"""What it is, an example, the type of its field, other settings, and how it is read."""


def table() -> str:
    """Return the table in Markdown."""
    lines = ["| form | example | type | other settings | read as |", "|---|---|---|---|---|"]
    for what, example, kind, more, value in FORMS:
        settings = ", ".join(f'`{name} = "{each}"`' for name, each in more.items())
        shown = f"{value:.10g}" if isinstance(value, float) else value
        lines.append(f"| {what} | `{example}` | `{kind}` | {settings} | {shown} |")
    return "\n".join(lines)


if __name__ == "__main__":
    PAGE.write_text(rewritten_part(PAGE.read_text(), "forms", table()))
