"""Files as people write them: what `inspect-source` proposes, `run` learns, or both refuse."""

import datetime as dt
import json
import re
import tomllib
import warnings
import zipfile
from contextlib import closing
from operator import attrgetter

import pytest
from support.embedded_log import append
from support.list_source import drained

from iln_stream.errors import IlnWarning
from iln_stream.loop import Regression
from iln_stream.records.inspection import inspect_fields
from iln_stream.records.values import NULLS
from iln_stream.records.where import Where
from iln_stream.service import parser_of, source_stream
from iln_stream.service.decoding import build_decoder, mapping_of
from iln_stream.service.settings import LoopSettings
from iln_stream.streams.sqlite import SqliteSink

N = 60
DAY = dt.datetime(2026, 3, 1)
HOURS = [DAY + dt.timedelta(hours=i) for i in range(N)]
DAYS = [DAY + dt.timedelta(days=i) for i in range(N)]


def rows(*columns):
    return [list(map(str, row)) for row in zip(*columns, strict=True)]


def text(header, columns, separator=",", before="", after=""):
    lines = [separator.join(row) + after for row in ([header] if header else []) + rows(*columns)]
    return before + "\n".join(lines) + "\n"


LOAD = [100 + i % 24 + i / 10 for i in range(N)]
TEMP = [f"{10 + i % 7}.5" for i in range(N)]
ISO = [f"{hour:%Y-%m-%d %H:%M}" for hour in HOURS]
COMMA = [str(value).replace(".", ",") for value in LOAD]

WEEKS = [dt.date(2020, 1, 6) + dt.timedelta(weeks=i) for i in range(N)]
QUARTERS = [(1990 + i // 4, i % 4 + 1) for i in range(N)]


def week(form, day):
    return day.strftime(form)


FILES = {
    "dollar": ("a.csv", text(["at", "load"], [ISO, [f'"${v * 100:,.2f}"' for v in LOAD]]),
               {"types": {"load": "amount in $"}, "time_field": "at"}),
    "swiss": ("a.csv", text(["at", "sum", "load"],
                            [ISO, [f"{v * 1000:,.2f}".replace(",", "'") for v in LOAD], LOAD]),
              {"types": {"sum": "amount"}}),
    "minus": ("a.csv", text(["at", "sum", "load"],
                            [ISO, [f"\N{MINUS SIGN}{v:.2f} °C" for v in LOAD], LOAD]),
              {"types": {"sum": "amount in °C"}}),
    "euro": ("a.csv", text(["at", "load"], [ISO, [f"{v} EUR" for v in COMMA]], ";"),
             {"separator": ";", "decimal": ",", "types": {"load": "amount in EUR"}}),
    "thousands": ("a.tsv", text(["n", "load"],
                                [[f"{700 + 20 * i:,}" for i in range(N)], LOAD], "\t"),
                  {"types": {"n": "amount"}}),
    "digits": ("a.csv", text(["at", "load"], [[f"{h:%Y%m%d%H}" for h in HOURS], LOAD]),
               {"types": {"at": "time %Y%m%d%H"}, "time_features": ["hour", "weekday"]}),
    "excel": ("a.csv", text(["date", "load"],
                            [range(46000, 46000 + N), [3 + i % 7 for i in range(N)]]),
              {"types": {"date": "time days since 1899-12-30"}, "time_features": ["weekday"]}),
    "AM and PM": ("a.csv", text(["at", "load"],
                                [[f"3/{h.day}/{h.year} {h:%I:%M %p}" for h in HOURS], LOAD]),
                  {"time_field": "at", "date_order": "mdy"}),
    "names": ("a.csv", text(["at", "load"], [[f"{h:%d-%b-%y %H:%M}" for h in HOURS], LOAD]),
              {"time_field": "at"}),
    "months": ("a.csv", text(["month", "load"],
                             [[f"{2000 + i // 12}-{1 + i % 12:02}" for i in range(N)], LOAD]),
               {"time_field": "month", "time_features": ["day_of_year"]}),
    "two columns": ("a.csv", text(["day", "time", "load"],
                                  [[f"{h:%d/%m/%Y}" for h in HOURS],
                                   [f"{h:%H.%M.%S}" for h in HOURS], LOAD]),
                    {"time_field": "day + time", "time_features": ["hour", "weekday"]}),
    "hours": ("a.csv",
              "Datum;Stunde;CO;;\n" + "".join(
                  f"{h:%d.%m.%Y};{h.hour};{c};;\n" for h, c in zip(HOURS, COMMA, strict=True)
              ) + ";;;;\n",
              {"time_field": "Datum + Stunde", "target": "CO", "decimal": ","}),
    "comments": ("a.csv", text(["at", "load"], [ISO, LOAD], before="# Station: a\n#\n\n"),
                 {"target": "load", "time_field": "at"}),
    "sep": ("a.csv", text(["at", "load"], [ISO, COMMA], ";", before="sep=;\n"),
            {"target": "load", "separator": ";"}),
    "titles": ("a.txt", text(["at", "load"], [ISO, LOAD], before="Station of a\nin kW\n"),
               {"target": "load"}),
    "no header": ("a.csv", text([], [TEMP, LOAD]), {"columns": ["column_1", "column_2"]}),
    "repeated": ("a.csv", text(["a", "a", "load"], [TEMP, LOAD, LOAD]),
                 {"columns": ["a", "a_2", "load"]}),
    "blanks": ("a.dat", text(["temp", "load"], [TEMP, LOAD], "   "), {"separator": "blank"}),
    "0 and 1": ("a.csv", text(["amount", "is_fraud"], [LOAD, [int(i % 9 == 0) for i in range(N)]]),
                {"target": "is_fraud", "learner": "infinite-layer-classifier"}),
    "yes and no": ("a.csv", text(["churned", "n"], [["yes", "no", "no"] * 20, range(N)]),
                   {"target": "churned", "learner": "infinite-layer-classifier"}),
    "nulls": ("a.csv", text(["a", "load"],
                            [["#N/A", "N.A.", "\\N", "NaT", "--", *TEMP[5:]], LOAD]),
              {"types": {"a": "number"}}),
    "sentinel": ("a.csv", text(["a", "load"],
                               [[-200 if i % 9 == 0 else v for i, v in enumerate(TEMP)], LOAD]),
                 {"target": "load"}),
    "array": ("a.json", json.dumps([{"a": float(t), "load": v}
                                    for t, v in zip(TEMP, LOAD, strict=True)]), {"target": "load"}),
    "ndjson": ("a.ndjson", "".join(json.dumps({"a": float(t), "load": v}) + "\n"
                                   for t, v in zip(TEMP, LOAD, strict=True)), {"target": "load"}),
    "dots": ("a.csv", text(["n", "load"],
                           [[f"{700 + 20 * i:,}".replace(",", ".") for i in range(N)],
                            [int(value) for value in LOAD]], ";"),
             {"decimal": ",", "types": {"n": "number"}}),
    "no rappen": ("a.csv", text(["at", "load"], [ISO, [f"{v * 100:.0f}.-" for v in LOAD]]),
                  {"types": {"load": "amount"}}),
    "clock first": ("a.csv", text(["Time", "Date", "load"],
                                  [[f"{h:%H:%M}" for h in HOURS],
                                   [f"{h:%d-%b-%y}" for h in HOURS], LOAD]),
                    {"time_field": "Date + Time"}),
    "day, month, year": ("a.csv", text(["day", "month", "year", "load"],
                                       [[h.day for h in DAYS], [h.month for h in DAYS],
                                        [h.year for h in DAYS], LOAD]),
                         {"time_field": "year + month + day"}),
    "hhmm": ("a.csv", text(["date", "time", "load"], [[f"{h:%Y-%m-%d}" for h in HOURS],
                                                      [f"{h:%H%M}" for h in HOURS], LOAD]),
             {"time_field": "date + time", "time_features": ["hour", "weekday"]}),
    "year.month": ("a.csv", text(["year_month", "load"],
                                 [[f"{2000 + i // 12}.{i % 12 + 1:02d}" for i in range(N)], LOAD]),
                   {"types": {"year_month": "time %Y.%m"}, "time_features": ["day_of_year"]}),
    "months of two digits": ("a.csv", text(["Data", "load"], [
        [f"{('Jan', 'Abr', 'Set', 'Dez')[i % 4]} {10 + i // 4}" for i in range(N)], LOAD]),
        {"types": {"Data": "time %b %y"}, "time_features": ["day_of_year"]}),
    "fields of a time in Portuguese": ("a.csv", text(["ano", "mes", "dia", "hora", "load"], [
        [getattr(h, each) for h in HOURS] for each in ("year", "month", "day", "hour")] + [LOAD]),
        {"time_field": "ano + mes + dia + hora"}),
    "seconds of GPS": ("a.csv", text(["gpsTime", "load"], [
        [1_453_896_000 + 3_600 * i for i in range(N)], LOAD]),
        {"types": {"gpsTime": "time seconds since 1980-01-06"}}),
    "modified Julian days": ("a.csv", text(["MJD", "load"], [
        [f"{61100 + i / 24:.5f}" for i in range(N)], LOAD]),
        {"types": {"MJD": "time days since 1858-11-17"}}),
    "another decimal sign": ("a.csv", text(["temp", "part", "load"], [COMMA, TEMP, COMMA], ";"),
                             {"decimal": ",", "ignore": ["part"], "types": {"temp": "number"}}),
    "a word for what is missing": ("a.csv", text(["temp", "wind", "load"], [
        *([("mq", *TEMP)[i % (k + 2)] for i in range(N)] for k in (1, 2)), LOAD]),
        {"types": {"temp": "number", "wind": "number"}, "null_values": [*NULLS, "mq"]}),
    "yes or a dash": ("a.csv", text(["temp", "load"], [TEMP, ["+", "-", "-"] * 20]),
                      {"learner": "infinite-layer-classifier", "target": "load",
                       "null_values": [each for each in NULLS if each != "-"]}),
    "marks of footnotes": ("a.csv", text(["temp", "wind", "load"], [
        [f"{v}{('p', ' e', '', '')[i % 4]}" for i, v in enumerate(TEMP)], ["03", *LOAD[:0:-1]],
        LOAD]),
        {"types": {"temp": "amount in e p", "wind": "number"}}),
    "a long preface": ("a.txt", text(["at", "temp", "load"], [ISO, TEMP, LOAD],
                                     before=30 * "Notes\nand, more\n"),
                       {"time_field": "at", "target": "load"}),
    "blank cells that were left out": ("a.csv", "temp;load;wind;note\n" + text(
        [], [TEMP, LOAD, [";" if i < 16 else "" for i in range(N)]], ";"), {"target": "load"}),
    "year of birth": ("a.csv", text(["since", "Year_Birth", "load"],
                                    [[f"{DAYS[i // 2]:%d-%m-%Y}" for i in range(N)],
                                     [1950 + i % 40 for i in range(N)], LOAD]),
                      {"time_field": "since"}),
    "no header, gaps": ("a.csv", text([], [["NaN", *range(1, N)], ["?", *TEMP[1:]], LOAD]),
                        {"columns": ["column_1", "column_2", "column_3"]}),
    "month.year": ("a.csv", text(["Monat", "load"],
                                 [[f"{1 + i % 12:02}.{2000 + i // 12}" for i in range(N)], LOAD]),
                   {"types": {"Monat": "time %m.%Y"}}),
    "a year that could be a clock": ("a.csv", text(["year", "date", "load"], [
        [2005 + i // 30 for i in range(N)],
        [f"{2005 + i // 30}-{1 + i % 30 // 3:02}-01" for i in range(N)], LOAD]),
        {"time_field": "date", "time_features": ["day_of_year"]}),
    "the first of each month": ("a.csv", text(["month", "load"], [
        [f"01-{1 + i % 12:02}-{1982 + i // 12}" for i in range(N)], LOAD]),
        {"date_order": "dmy", "time_field": "month"}),
    "yymmdd": ("a.csv", text(["date", "load"], [[f"{h:%y%m%d}" for h in DAYS], LOAD]),
               {"types": {"date": "time %y%m%d"}}),
    "ddmmyyyy": ("a.csv", text(["date", "load"], [[f"{h:%d%m%Y}" for h in DAYS], LOAD]),
                 {"types": {"date": "time %d%m%Y"}}),
    "numbers that are dates": ("a.jsonl", "".join(
        json.dumps({"date": int(f"{h:%Y%m%d}"), "load": v}) + "\n"
        for h, v in zip(DAYS, LOAD, strict=True)), {"time_field": "date"}),
    "a line of two": ("a.csv", text(['"temp\n[C]"', "load"], [TEMP, LOAD]),
                      {"types": {"temp\n[C]": "number"}}),
    "blanks at the end": ("a.csv", "temp,load\n" + text([], [TEMP, LOAD], after=","),
                          {"target": "load", "types": {"temp": "number"}}),
    "row names": ("a.csv", "temp,load\n" + text([], [range(N), TEMP, LOAD]),
                  {"target": "load", "types": {"column_1": "number", "temp": "number"}}),
    "no header, decimal comma": ("a.csv", text([], [COMMA, COMMA[::-1]], ";"),
                                 {"separator": ";", "columns": ["column_1", "column_2"]}),
    "array of lines": ("a.jsonl", "[\n" + ",\n".join(
        json.dumps({"a": float(t), "load": v}) for t, v in zip(TEMP, LOAD, strict=True)) + "\n]",
        {"target": "load"}),
    "a steady label": ("a.csv", text(["amount", "load"], [LOAD, [0] * N]), {"target": "load"}),
    "units": ("a.csv", "at;load;temp\n;kWh;°C\n" + text([], [ISO, COMMA, COMMA[::-1]], ";"),
              {"target": "load", "types": {"temp": "number"}}),
    "types below": ("a.csv", "temp,wind,load\nfloat,float,float\n,,class\n"
                    + text([], [TEMP, TEMP[::-1], LOAD]), {"target": "load"}),
    "a mark within the header": ("a.csv", text(["temp", "\ufeffload"], [TEMP, LOAD]),
                                 {"target": "load"}),
    "October as a number": ("a.csv", text(["Date", "load"], [
        [f"{2000 + i // 12}.{i % 12 + 1:02d}".rstrip("0") for i in range(N)], LOAD]),
        {"types": {"Date": "time %Y.%m"}, "time_features": ["day_of_year"]}),
    "October in JSON": ("a.jsonl", "".join(
        json.dumps({"Date": round(2000 + i // 12 + (i % 12 + 1) / 100, 2), "load": v}) + "\n"
        for i, v in enumerate(LOAD)), {"time_field": "Date", "types": {"Date": "time %Y.%m"}}),
    "year of two digits first": ("a.csv", text(["day", "load"],
                                               [[f"{h:%y-%m-%d}" for h in DAYS], LOAD]),
                                 {"types": {"day": "time %y-%m-%d"}, "time_field": "day"}),
    "periods": ("a.csv", text(["MTU (CET)", "load"], [
        [f"{h:%d.%m.%Y %H:%M} - {h + dt.timedelta(hours=1):%d.%m.%Y %H:%M}" for h in HOURS], LOAD]),
        {"time_field": "MTU (CET)", "date_order": "dmy"}),
    "hour ending": ("a.csv", text(["Date", "HE", "load"], [[f"{h:%m/%d/%Y}" for h in HOURS],
                                                           [h.hour + 1 for h in HOURS], LOAD]),
                    {"time_field": "Date + HE", "date_order": "mdy"}),
    "short names": ("a.csv", text(["YEAR", "MO", "DY", "HR", "load"], [
        [getattr(h, each) for h in HOURS] for each in ("year", "month", "day", "hour")] + [LOAD]),
        {"time_field": "YEAR + MO + DY + HR"}),
    "single quotes": ("a.csv", text(["'at'", "'town'", "'load'"],
                                    [ISO, ["'Ulm, Bern'", "Rom"] * 30, LOAD]),
                      {"time_field": "at", "target": "load"}),
    "titles as wide as the table": ("a.csv", text(["at", "temp", "load"], [ISO, TEMP, LOAD],
                                                  before="Station:,Bern,\nUnit:,,\n,,\n"),
                                    {"time_field": "at", "target": "load"}),
    "joined": ("a.csv", text(["sky", "grade"], [["clear", "rain"] * 20, LOAD[:40]])
               + text(["sky", "grade"], [["rain"] * 20, LOAD[40:]]), {"target": "grade"}),
    "comma and exponent": ("a.csv", text(["temp", "load"], [
        [f"{v:.4E}".replace(".", ",") for v in LOAD], COMMA], ";"),
        {"decimal": ",", "types": {"temp": "number"}}),
    **{f"weeks {form}": ("a.csv", text([name, "load"], [[week(form, d) for d in WEEKS], LOAD]),
                         {"time_field": name, "time_features": ["day_of_year"], **types})
       for name, form, types in (
           ("week", "%G%V", {"types": {"week": "time %G%V"}}),
           ("week", "%V/%G", {"types": {"week": "time %V/%G"}}),
           ("KW", "%G-%V", {"types": {"KW": "time %G-%V"}}),
           ("Woche", "KW %V/%G", {}), ("Kalenderwoche", "%G KW%V", {}), ("at", "%G-W%V", {}),
       )},
    **{f"quarters {form}": ("a.csv", text([name, "load"],
                                          [[form.format(*each) for each in QUARTERS], LOAD]),
                            {"time_field": name, "time_features": ["day_of_year"], **types})
       for name, form, types in (
           ("date", "{}.{}", {"types": {"date": "time %Y.%q"}}),
           ("quarter", "{1}/{0}", {"types": {"quarter": "time %q/%Y"}}),
           ("obs", "{}:{}", {"types": {"obs": "time %Y:%q"}}),
           ("quarter", "{}{}", {"types": {"quarter": "time %Y%q"}}),
           ("at", "Q{1} {0}", {}), ("at", "{}Q{}", {}), ("trimestre", "T{1} {0}", {}),
       )},
    "year and week": ("a.csv", text(["year", "week", "load"], [
        [week(form, d) for d in WEEKS] for form in ("%G", "%V")] + [LOAD]),
        {"time_field": "year + week", "types": {"year + week": "time %G %V"}}),
    "year and quarter": ("a.jsonl", "".join(
        json.dumps({"year": y, "quarter": q, "load": v}) + "\n"
        for (y, q), v in zip(QUARTERS, LOAD, strict=True)),
        {"time_field": "year + quarter", "types": {"year + quarter": "time %Y %q"}}),
    "year and day of year": ("a.csv", text(["year", "doy", "load"], [
        [d.year for d in DAYS], [f"{d:%j}" for d in DAYS], LOAD]), {"time_field": "year + doy"}),
    "yyyyddd": ("a.csv", text(["date", "load"], [[f"{d:%Y%j}" for d in DAYS], LOAD]),
                {"types": {"date": "time %Y%j"}}),
    "yymmdd that could be weeks": ("a.csv", text(["date", "load"], [
        [f"{d - dt.timedelta(days=2200):%y%m%d}" for d in DAYS], LOAD]),
        {"types": {"date": "time %y%m%d"}}),
    "decimal years": ("a.csv", text(["decimal_date", "load"], [
        [f"{1990 + i / 12:.3f}" for i in range(N)], LOAD]),
        {"types": {"decimal_date": "time years"}, "time_features": ["day_of_year"]}),
    "science notation": ("a.csv", text(["timestamp", "load"], [
        [f"{1e3 * h.replace(tzinfo=dt.UTC).timestamp():.9e}" for h in HOURS], LOAD]),
        {"time_field": "timestamp", "time_features": ["hour", "weekday"]}),
    "science notation with commas": ("a.csv", text(["at", "load"], [
        [f"{h.replace(tzinfo=dt.UTC).timestamp():.9E}".replace(".", ",") for h in HOURS], COMMA],
        ";"), {"time_field": "at", "time_features": ["hour", "weekday"]}),
    "carets": ("a.csv", text(["at", "temp", "load"], [ISO, TEMP, LOAD], "^"), {"separator": "^"}),
    "blanks after dots": ("a.csv", text(["Datum", "load"], [
        [f"{d.day}. {d.month}. {d.year}" for d in DAYS], LOAD]),
        {"time_field": "Datum", "date_order": "dmy"}),
    "AM and PM in Korean": ("a.csv", text(["at", "load"], [
        [f"{h:%Y-%m-%d} {'오전' if h.hour < 12 else '오후'} {h:%I:%M}" for h in HOURS], LOAD]),
        {"time_field": "at", "time_features": ["hour", "weekday"]}),
    "a zone": ("a.csv", text(["at", "load"], [[f"{each} CEST" for each in ISO], LOAD]),
               {"time_field": "at", "time_features": ["hour", "weekday"]}),
    **{f"durations such as {form}": ("a.csv", text(["ride", "load"], [
        [form.format(1 + i // 7, i % 60) for i in range(N)], LOAD]),
        {"types": {"ride": "duration"}})
       for form in ("{}:{:02}:30", "{}:{:02}", "{}h {}m", "PT{}H{}M", "{} days 00:{:02}:00")},
    "a duration as label": ("a.csv", text(["temp", "load"], [
        TEMP, [f"{1 + i // 60} h {i % 60} min" if i % 3 else f"{i + 60} min" for i in range(N)]]),
        {"types": {"temp": "number", "load": "duration"}}),
    "text of a spreadsheet": ("a.csv", text(["temp", "load"], [
        [f'="{v}"' for v in TEMP], [f"{('~', 'ca. ')[i % 2]}{int(LOAD[i])}" for i in range(N)]]),
        {"types": {"temp": "amount", "load": "amount"}}),
    "ticks": ("a.csv", text(["at", "load"], [
        [639_054_576_000_000_000 + 36_000_000_000 * i for i in range(N)], LOAD]),
        {"types": {"at": "time ticks since 0001-01-01"}, "time_features": ["hour", "weekday"]}),
    "yymm": ("a.csv", text(["month", "load"], [
        [f"{5 + i // 12:02}{1 + i % 12:02}" for i in range(N)], LOAD]),
        {"types": {"month": "time %y%m"}, "time_features": ["day_of_year"]}),
    "months as names of columns": ("a.csv", text(["n", "2025-11", "2025-12"], [
        range(N), TEMP, LOAD]), {"target": "2025-12"}),
    "three decimals": ("a.csv", text(["kg", "load"], [
        [f"{i / 50:.3f}".replace(".", ",") for i in range(N)],
        [f"{v:,.3f}".translate(str.maketrans(".,", ",.")) for v in LOAD]], ";"),
        {"decimal": ",", "types": {"kg": "number"}}),
    "codes that begin with capitals": ("a.csv", text(["sku", "temp", "load"], [
        [f"SKU{i % 9}" for i in range(N)], TEMP, LOAD]), {"types": {"temp": "number"}}),
    "part numbers and others": ("a.csv", text(["hex", "load"], [["3E7", "45", "7f"] * 20, LOAD]),
                                {"target": "load", "types": {"hex": "category"}}),
    "time of day in digits": ("a.csv", text(["DATE", "TIME", "load"], [
        [f"{h:%Y%m%d}" for h in HOURS], [h.hour * 100 for h in HOURS], LOAD]),
        {"time_field": "DATE + TIME", "time_features": ["hour", "weekday"]}),
    "midnight and a first day": ("a.csv", text(["date", "time", "load"], [
        [f"{h:%m/%d/%Y 0:00}" for h in HOURS], [f"{h:12/30/1899 %I:%M:%S %p}" for h in HOURS],
        LOAD]), {"time_field": "date + time", "time_features": ["hour", "weekday"]}),
    "weekdays before": ("a.csv", text(["at", "load"], [
        [f"{('Fr', 'Sa', 'So', 'Mo')[h.day % 4]}. {h:%d.%m.%Y um %H:%M Uhr}" for h in HOURS],
        LOAD]), {"time_field": "at", "date_order": "dmy"}),
    "a word for what is missing in one field": ("a.csv", text(["temp", "load"], [
        ["lost" if i % 12 == 5 else v for i, v in enumerate(TEMP)], LOAD]),
        {"types": {"temp": "number"}, "null_values": [*NULLS, "lost"]}),
    "blanks before quotes": ("a.csv", text(["at", '"temp"', "load"], [
        ISO, [f'"{v}"' for v in TEMP], LOAD], ", "), {"types": {"temp": "number"}}),
    "backslashes before quotes": ("a.csv", text(["at", "note", "load"], [
        ISO, [rf'"say \"hi\", {i % 3}"' for i in range(N)], LOAD]), {"time_field": "at"}),
    "drawn lines": ("a.txt", text(["", "at", "load", ""], [N * [""], ISO, LOAD, N * [""]], "|",
                                  "+---+---+\n").replace("at|load|\n", "at|load|\n|---+---|\n")
                    + "+---+---+\n", {"time_field": "at", "target": "load"}),
    "no header, times first": ("a.csv", text([], [ISO, TEMP, LOAD]),
                               {"columns": ["column_1", "column_2", "column_3"]}),
    "a label with its unit": ("a.csv", text(["at", "Sales (EUR)", "temp"], [ISO, LOAD, TEMP]),
                              {"target": "Sales (EUR)"}),
    "totals": ("a.csv", "at;load\n" + "".join(
        text([], [ISO[i : i + 12], LOAD[i : i + 12]], ";")
        + f"Sum {'AB'[i % 24 // 12]};{sum(LOAD[i : i + 12]):.1f}\n" for i in range(0, N, 12))
        + f"Total;{sum(LOAD):.1f}\n",
        {"time_field": "at", "where": 'at not in ["Sum A", "Sum B", "Total"]'}),
    "a total without a word": ("a.csv", text(["at", "temp", "load"], [ISO, TEMP, LOAD])
                               + f",,{sum(LOAD):.2f}\n", {"where": "at != null"}),
    "a total above": ("a.csv", f"temp,load\nGesamt,{sum(LOAD):.1f}\n" + text([], [TEMP, LOAD]),
                      {"where": 'temp != "Gesamt"'}),
    "an id alone": ("a.csv", text(["id", "load"], [[f"k{i}" for i in range(N)], LOAD]),
                    {"target": "load", "ignore": ["id"]}),
}  # fmt: skip


def agrees(settings):
    """Whether a run reads in each field what the proposal saw in it: numbers, categories, times."""
    settings = LoopSettings(**settings)
    stream = source_stream(settings)
    mapping = mapping_of(settings, stream)
    decode = build_decoder(settings, stream, Regression())
    payloads = [*map(attrgetter("payload"), drained(stream.source()))]
    if settings.where:
        where = Where(settings.where, settings.null_values)
        payloads = [*filter(where, payloads)]
    examples = [decode(payload, None) for payload in payloads]
    found = inspect_fields([*map(parser_of(settings, stream), payloads)], mapping)
    for each in found:
        if each.role == "label":
            labels = [example.y for example in examples]
            assert (min(labels), max(labels)) == (each.low, each.high)
        elif each.role == "input" and each.is_number:
            values = [example.x[each.name] for example in examples if each.name in example.x]
            assert (min(values), max(values)) == (each.low, each.high)
        elif each.role == "input":
            assert any(f"{each.name}={each.low}" in example.x for example in examples)
    times = [example.time for example in examples]
    assert (None in times) == (settings.time_field is None)
    assert settings.time_field is None or times == sorted(times)
    return True


@pytest.mark.parametrize("name", FILES)
def test_the_proposal_and_its_run_agree(name, command, tmp_path):
    """Each file is proposed as a person would say, and the run by the proposal learns all of it:
    the same code reads it in both."""
    file, content, expected = FILES[name]
    (tmp_path / file).write_text(content)
    done = command("inspect-source", file).ok()
    settings = tomllib.loads(done.out)
    assert expected.items() <= settings.items(), done.out
    if name == "sentinel":
        assert settings["null_values"][-1] == "-200"
        assert "null_values says that it is missing" in done.out
    if not name.startswith(("0", "yes")):
        assert "learner" not in settings
        run = ("run", "--config", "learn.toml", "--metrics-port", "0", "--learner", "pool")
        (tmp_path / "learn.toml").write_text(done.out)
        assert agrees(settings)
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always", IlnWarning)
            ran = command(*run)
        assert ran.code == 0, ran.err
        assert f"{N:,} events, 0 dead letters" in ran.err
        told = {str(each.message) for each in said if each.category is IlnWarning}
        assert not {each for each in told if re.search("set its type|[Cc]ategory", each)}


def test_a_forecast_of_numbers_as_text(command, tmp_path):
    """The run of a proposal warns of no field: the proposal said how each is taken."""
    lines = [json.dumps({"at": at, "sold": str(v)}) for at, v in zip(ISO, LOAD, strict=True)]
    (tmp_path / "a.jsonl").write_text("\n".join(lines))
    done = command("inspect-source", "a.jsonl", "--target", "sold", "--horizon", "1")
    (tmp_path / "learn.toml").write_text(done.out)
    with warnings.catch_warnings(action="error"):
        ran = command("run", "--config", "learn.toml", "--metrics-port", "0", "--learner", "pool")
    assert (ran.code, tomllib.loads(done.out)["types"]) == (0, {"sold": "number"})


REMARKS = {
    "marks of thousands": (["n", "load"], [[f"{1000 + 7 * i:,}" for i in range(N)], LOAD],
                           '"n" has marks that are always before three digits'),
    "0 among others": (["hPa", "load"], [[0 if i % 9 == 0 else 990 + i for i in range(N)], LOAD],
                       '"hPa" is 0 at times'),
    "ambiguous days": (["at", "load"], [[f"0{1 + i % 9}/05/2026" for i in range(N)], LOAD],
                       '"at" has dates with the year last'),
    "credits": (["sum", "load"], [[f"{i}.50{' CR' * (i % 3 == 0)}" for i in range(N)], LOAD],
                '"sum" is no number (numbers with different units: CR, none)'),
    "units that repeat": (["way", "load"],
                          [[f"{i % 5} {('km', 'm')[i % 2]}" for i in range(N)], LOAD],
                          '"way" is no number (numbers with different units: km, m)'),
    "other texts": (["a", "load"], [[("lost", *TEMP)[i % 4] for i in range(N)], LOAD],
                    '"a" is no number (numbers and other text)'),
    "a copy": (["kw", "load"], [[v / 1000 for v in LOAD], LOAD], '"kw" says what the label says'),
    "few integers": (["a", "load"], [TEMP, [i % 5 for i in range(N)]],
                     '"load" has 5 different whole numbers: if they are classes'),
    "one value": (["a", "load"], [TEMP, [0] * N], '"load" is always 0.0 in the 60 records'),
    "the name of a time": (["timestamp", "load"], [range(474_792, 474_792 + N), LOAD],
                           '"timestamp" is taken as a number, such as 474792.0, though it is '),
    "another calendar": (["at", "load"], [[f"{d.year + 543}-{d:%m-%d}" for d in DAYS], LOAD],
                         '"at" has times such as "2569-'),
    "totals": (["shop", "load"], [["a", "b", "c", "d", "Total"] * 12, LOAD], '"shop" has totals'),
    "some per cent": (["rate", "load"], [[f"{v}%" if i % 2 else f"0.{i:02}"
                                          for i, v in enumerate(TEMP)], LOAD],
                      '"rate" has numbers with % and numbers without'),
    "some commas": (["temp", "load"], [[v.replace(".", ",") if i % 3 else f"{i}.25"
                                        for i, v in enumerate(COMMA)], LOAD],
                    '"temp" is no number (numbers with another decimal sign'),
    "marks of texts": (["temp", "load"], [[f"{v} <" for v in LOAD], LOAD],
                       '"temp" is no number (numbers and texts that hardly repeat)'),
    "ranges": (["temp", "load"], [TEMP, [f"{i // 2}-{i // 2 + 5}" for i in range(N)]],
               'target = "load" has 30 classes, such as'),
    "ranges of hours": (["at", "load"], [
        [f"{h:%Y-%m-%d %H:00}-{h.hour + 1:02}:00" for h in HOURS], LOAD],
        '"at" looks like times that are not read, such as "2026-03-01 00:00-01:00"'),
    "days that a spreadsheet took for months": (["at", "load"], [
        [f"{h:%m/%d/%Y}" if h.day <= 12 else f"{h:%d/%m/%Y}" for h in DAYS], LOAD],
        '"at" has dates with the year last'),
    "half past midnight as 30": (["date", "time", "load"], [
        [f"{h:%Y-%m-%d}" for h in HOURS], [h.hour * 100 + 30 for h in HOURS], LOAD],
        '"time" is taken as a number, such as 30.0: if it is the time of day'),
    "the future": (["at", "load"], [[f"{d.year + 60}-{d:%m-%d}" for d in DAYS], LOAD],
                   '"at" has times such as "2086-'),
    "other durations": (["way", "load"], [[f"{i} Std. {i % 7} Min." for i in range(N)], LOAD],
                        '"way" is no number (numbers and texts that hardly repeat)'),
    "a first day": (["at", "end", "load"], [[f"{d:%Y-%m-%d}" for d in DAYS], [
        "1900-01-01" if i % 4 else f"{d:%Y-%m-%d}" for i, d in enumerate(DAYS)], LOAD],
        '"end" is 1900-01-01 at times, unlike others: null_values says'),
    "a second time with others": (["at", "end", "load"], [[f"{d:%Y-%m-%d}" for d in DAYS], [
        f"{d:%Y-%m-%d}" if i % 9 else "0000-00-00" for i, d in enumerate(DAYS)], LOAD],
        '"end": 7 of 60 values are no numbers, the first is "0000-00-00"'),
    "a class that is empty": (["a", "load"], [TEMP, ["yes", ""] * 30],
                              '"load" has no value in 30 records'),
    "Yes and yes": (["a", "load"], [TEMP, ["yes", "Yes", "no"] * 20],
                    'target = "load" has classes that differ in capitals or blanks'),
    "a copy of a class": (["why", "load"], [["price", ""] * 30, ["left", "stays"] * 30],
                          '"why" says what the label says'),
    "a copy that was rounded": (["kw", "load"], [[*map(int, LOAD)], LOAD],
                                '"kw" says what the label says'),
    "parts of a sum": (["net", "tax", "load"], [
        [round(v - 7 * i % 31, 1) for i, v in enumerate(LOAD)], [7 * i % 31 for i in range(N)],
        LOAD], "\"net\" makes the label, 'net' + 'tax'"),
    "a value of one class": (["refund", "load"], [
        [v if i % 3 else "" for i, v in enumerate(LOAD)], ["yes" if i % 3 else "no"
                                                           for i in range(N)]],
        '"refund" says what the label says'),
    "Rain and rain": (["sky", "load"], [["Rain", "rain ", "dry"] * 20, LOAD],
                      '"sky" has values that differ in capitals or blanks, or .0 alone'),
    "17 and 17.0": (["shop_id", "load"], [["17", "17.0", "18"] * 20, LOAD],
                    '"shop_id" has values that differ in capitals or blanks, or .0 alone'),
    "1 and 1.0": (["a", "load"], [TEMP, ["1", "1.0", "0"] * 20],
                  'target = "load" has classes that differ in capitals or blanks, or .0 alone'),
    "sorted numbers": (["a", "load"], [TEMP, sorted(LOAD)], '"load" comes sorted'),
    "sorted classes": (["a", "load"], [TEMP, sorted(["no", "yes"] * 30)], '"load" comes sorted'),
    "exports that overlap": (["at", "load"], [ISO[:50] + ISO[40:50], LOAD[:50] + LOAD[40:50]],
                             "9 of 60 records came before"),
    "-1 among others": (["a", "load"], [[-1 if i % 6 == 0 else i + 5 for i in range(N)], LOAD],
                        '"a" is -1 at times'),
    "units here and there": (["cpu", "load"], [[f"{9 * i + 99}m" if i % 4 else "2"
                                                for i in range(N)], LOAD],
                             '"cpu" has numbers with a unit, and others without'),
    "hours here and there": (["km", "load"], [TEMP, [f"{i % 7}h {i}m" if i % 9 else f"{i + 9}"
                                                     for i in range(N)]],
                             '"load" has numbers with a unit, and others without'),
    "laps": (["km", "load"], [TEMP, [f"1:{i:02}:40" if i % 3 else f"{i:02}:55" for i in range(N)]],
             '"load" has clocks with three parts, and with two'),
    "limits": (["lead", "load"], [["<4.0" if i % 3 == 0 else v for i, v in enumerate(TEMP)], LOAD],
               '"lead" is no number (numbers and other text), such as "<4.0"'),
    "qualities": (["load_quality", "load"], [["Good", "Bad", "Good"] * 20, LOAD],
                  '"load_quality" says which records are bad'),
    "rounded times": (["ts", "load"], [["1.76757E+09", "1.76758E+09", "1.76759E+09"] * 20, LOAD],
                      '"ts" has times that a spreadsheet has rounded'),
    "quarters of hours": (["date", "at", "load"], [["2026-03-01"] * N, [
        f"{i // 4:02}:{15 * (i % 4):02}-{(i + 1) // 4:02}:{15 * ((i + 1) % 4):02}"
        for i in range(N)], LOAD], '"at" looks like times that are not read'),
    "JSON": (["more", "load"], [[f'{{"a": {i}}}' for i in range(N)], LOAD],
             '"more" is ignored, as its texts are JSON'),
    "values and codes": (["temp", "load"], [[f"+0{100 + i},1" for i in range(N)], LOAD],
                         '"temp" is no number (numbers with another decimal sign'),
    "versions": (["version", "load"], [["1.1", "1.9", "1.10"] * 20, LOAD],
                 'Numbers taken as categories, a guess from their names: "version" (3 values)'),
    "999.9": (["a", "load"], [[999.9 if i % 9 == 0 else v for i, v in enumerate(TEMP)], LOAD],
              '"a" is 999.9 at times'),
}  # fmt: skip


UNREMARKABLE = {
    "no rain": (["mm", "load"], [["0" if i % 3 else f"{i + 3} mm" for i in range(N)], LOAD]),
    "thousands": (["views", "load"], [[f"{i}.5k" if i % 2 else "8" for i in range(N)], LOAD]),
    "ratings": (["road", "load"], [["good", "fair", "bad"] * 20, LOAD]),
    "ids in braces": (["visit", "load"], [
        [f"{{{chr(65 + i % 26)}{i}-{chr(90 - i % 7)}}}" for i in range(N)], LOAD]),
    "a dam": (["release", "load"], [[f"{i + 1 / 7:.2f}" for i in range(N)], LOAD]),
    "a note": (["temp", "note", "load"], [[f"{i % 9},{i % 7}" for i in range(N)],
                                          ["05, replaced", "ok", "ok"] * 20,
                                          [37 * i % 101 for i in range(N)]]),
}  # fmt: skip


@pytest.mark.parametrize("name", UNREMARKABLE)
def test_no_comment_where_nothing_is_wrong(name, command, tmp_path):
    """Zeros without a unit, multiples, ratings, ids and amounts are what they seem to be."""
    header, columns = UNREMARKABLE[name]
    (tmp_path / "a.tsv").write_text(text(header, columns, "\t"))
    done = command("inspect-source", "a.tsv", "--target", "load")
    assert "# " not in done.out, done.out


@pytest.mark.parametrize("name", REMARKS)
def test_a_comment_names_what_may_be_wrong(name, command, tmp_path):
    """What is ambiguous, or not read although it looks useful, is named in a comment."""
    header, columns, remark = REMARKS[name]
    (tmp_path / "a.tsv").write_text(text(header, columns, "\t"))
    done = command("inspect-source", "a.tsv", "--target", "load")
    assert f"# {remark}" in done.out


def test_the_year_of_a_long_file(command, tmp_path):
    """The time features and classes are those of the whole file, not of its first records, and the
    last one, far from them, does not hide the form of the times; a rare class is found, or the
    comment says how many records were read."""
    hours = [f"{DAY + dt.timedelta(hours=i):%Y-%m-%d %H:%M}" for i in range(9_000)]
    (tmp_path / "a.csv").write_text(text(["at", "load"], [hours, range(9_000)]))
    done = command("inspect-source", "a.csv")
    assert tomllib.loads(done.out)["time_features"] == ["hour", "weekday", "day_of_year"]
    years = [f"{1500 + i / 12:.3f}" for i in range(5_000)]
    (tmp_path / "a.csv").write_text(
        text(["year", "is_on"], [years, [i // 2_500 for i in range(5_000)]])
    )
    settings = tomllib.loads(command("inspect-source", "a.csv").out)
    assert settings["types"] == {"year": "time years"}
    assert settings["learner"] == "infinite-layer-classifier"
    for rare in ([2_345, 6_001], []):
        frauds = [int(i in rare) for i in range(9_000)]
        (tmp_path / "a.csv").write_text(text(["is_fraud", "amount"], [frauds, range(9_000)]))
        proposal = command("inspect-source", "a.csv", "--target", "is_fraud").out
        assert ("learner" in tomllib.loads(proposal)) == bool(rare)
        assert ("always 0.0 in the 9,000 records that were read" in proposal) != bool(rare)


@pytest.mark.parametrize(
    ("file", "content", "error"),
    [
        ("a.json", b'{"data": [{"a": 1}, {"a": 2}]}', "jq -c '.data[]' a.json"),
        ("a.json", b'{"a": [1, 2], "load": [3, 4]}', "write a record in each line, with pandas"),
        ("a.json", b'{"of": {"rows": [%b[1]]}}' % (99 * b"[1, 2],"), "its 'of' has several"),
        ("a.json", b'{"0": {"a": 1, "b": 2}, "1": {"a": 3, "b": 4}}', "its '0' has several values"),
        (
            "a.json",
            b'{"of": [{"n": 1}, {"n": 2}], "rows": [%b{}]}' % (9 * b'{"a": 1},'),
            "its 'rows'",
        ),
        (
            "a.csv",
            b"a,load\n1,2\n3,4\nload,a\n5,6\n",
            "after line 3: it is not CSV: a second header",
        ),
        (
            "a.csv",
            b"a,load\n" + 9 * b'1,"2\n"\n' + b"load,a\n5,6\n",
            "after line 19: it is not CSV: a second header",
        ),
        (
            "a.csv",
            b"at,a,load\n1,2,3\n4,5,6\nat,load\n7,8\n",
            "header has other columns (at, load)",
        ),
        (
            "a.csv",
            b"at,load\n" + 9 * b"1,5,7,25\n",
            "names has 2 (at, load), and rows have 4 cells",
        ),
        ("a.jsonl", 9 * b'INFO {"a": 1}\n', "an object with text before it is read by a decoder"),
        ("a.json", b'{\n"a": 1\n}\n{\n"a": 2\n}', "from line 4 on: `jq -c . a.json`"),
        ("a.csv", b"<!DOCTYPE html><html>\n<p>404</p>\n", "is a page in HTML or XML"),
        ("a.csv", b"PK\x03\x04 and no more", "no whole archive"),
        ("a.csv", b"at::load\n" + 9 * b"12:30::1.5\n", "by `sed $'s,::,|,g' a.csv`"),
        ("a.dat", b"at::load\n" + 9 * b"1 12:30::1.5\n", "by `sed $'s,::,|,g' a.dat`"),
        ("a.csv", b"a*load\n" + 9 * b"7*1.5\n", r"by `sed $'s,\\*,|,g' a.csv`"),
        ("a.txt", b"@relation a\n@data\n1,2\n", "is in ARFF: read it with"),
        ("a.txt", 9 * b"1.5 1:7.25 2:0.5\n", "is in LIBSVM's form"),
        ("a.txt", b"lines\n" + b"".join(b"text-%d\n" % i for i in range(60)), "no field can be"),
    ],
)
def test_what_is_no_file_of_records(file, content, error, command, tmp_path):
    """It is refused with what to do, and no nonsense is proposed."""
    (tmp_path / file).write_bytes(content)
    done = command("inspect-source", file)
    assert (done.code, error in done.err) == (2, True), done.err


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-8-sig", "utf-32"])
@pytest.mark.parametrize("suffix", [".csv", ".jsonl"])
def test_encodings(encoding, suffix, command, tmp_path):
    """UTF-16, which spreadsheets and PowerShell write, is read like UTF-8, with or without mark."""
    lines = text(["temp", "load"], [TEMP, LOAD])
    if suffix == ".jsonl":
        lines = FILES["ndjson"][1]
    (tmp_path / f"a{suffix}").write_bytes(lines.encode(encoding))
    done = command("inspect-source", f"a{suffix}")
    assert (done.code, tomllib.loads(done.out)["target"]) == (0, "load"), done.err


@pytest.mark.parametrize("file", ["a.csv", "a.jsonl"])
def test_files_with_marks_that_were_joined(file, command, tmp_path):
    """Neither a byte order mark in the middle nor a header there costs or makes a record."""
    lines = text(["temp", "load"], [TEMP, LOAD]) if file == "a.csv" else FILES["ndjson"][1]
    (tmp_path / file).write_bytes(2 * lines.encode("utf-8-sig"))
    ran = command("run", "--source", file, "--target=load", "--learner=pool", "--metrics-port=0")
    assert f"{2 * N:,} events, 0 dead letters" in ran.err


def test_what_is_left_out_below_the_header_is_counted(command, tmp_path):
    """The line of units is named; a first record with one odd text is none, and stays."""
    (tmp_path / "a.csv").write_text(FILES["units"][1])
    with pytest.warns(IlnWarning, match="a.csv: 1 lines beside the header .* is ' kWh °C'"):
        source_stream(LoopSettings(source=str(tmp_path / "a.csv"), separator=";")).source()
    (tmp_path / "a.csv").write_text("sky,load\nclear,lost\n" + text([], [["rain"] * N, LOAD]))
    assert "1 of 61 values are no numbers" in command("inspect-source", "a.csv").out
    (tmp_path / "a.tab").write_text("sky\twind\tload\nc d\td\tc\n\tmeta\tclass\n" + 9 * "c\tw\t1\n")
    with pytest.warns(IlnWarning, match="a.tab: 2 lines beside the header .* is 'c d d c'"):
        assert len(source_stream(LoopSettings(source="a.tab")).source().poll(1.0)) == 9


def test_an_archive_of_one_file(command, tmp_path):
    """It is read as its file; of several files one has to be unpacked; a sheet is to be CSV."""
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("inside.csv", text(["temp", "load"], [TEMP, LOAD]))
    assert command("inspect-source", "a.zip").code == 0
    with zipfile.ZipFile(tmp_path / "a.zip", "a") as archive:
        archive.writestr("other.csv", "a\n1\n")
    assert "has 2 files (inside.csv, other.csv)" in command("inspect-source", "a.zip").err
    (tmp_path / "a.xlsx").touch()
    assert "save the sheet as CSV" in command("inspect-source", "a.xlsx").err
    assert "did you mean a.xlsx?" not in command("inspect-source", "b.csv").err


@pytest.mark.parametrize("name", ["tx", "paid for"])
def test_labels_among_the_events(name, command, tmp_path):
    """Labels in records of their own are found by their ids, and learned with the inputs; if their
    id has another name, by the decoder that a comment has."""
    events = [json.dumps({"tx": f"T{i}", "amount": i % 9}) for i in range(N)]
    labels = [json.dumps({name: f"T{i}", "charged": i % 9 / 2}) for i in range(N)]
    lines = [line for pair in zip(events, labels, strict=True) for line in pair]
    (tmp_path / "a.jsonl").write_text("\n".join(lines))
    done = command("inspect-source", "a.jsonl")
    settings = tomllib.loads(done.out)
    assert (settings["target"], settings["id_field"]) == ("charged", "tx")
    assert settings["pending_events"] == 100_000
    assert "came before" not in done.out  # an id comes twice: with its event and its label
    assert settings.get("decoder") == (None if name == "tx" else "renamed:record")
    own = [line[2:] for line in done.out.splitlines() if re.match("# (import|def|  )", line)]
    (tmp_path / "renamed.py").write_text("\n".join(own))
    (tmp_path / "learn.toml").write_text(done.out)
    ran = command("run", "--config", "learn.toml", "--metrics-port", "0", "--learner", "pool")
    assert (ran.code, f"{N:,} events, 0 dead letters;" in ran.err) == (0, True), ran.err


def test_a_time_is_no_guess_for_the_label(command, tmp_path):
    """If no name tells the label, it is a number before the year, though the year is the last."""
    (tmp_path / "a.csv").write_text(text(["a", "b", "year"], [TEMP, LOAD, range(1900, 1900 + N)]))
    assert tomllib.loads(command("inspect-source", "a.csv").out)["target"] == "b"


def test_what_a_proposal_refuses_or_names(command, tmp_path):
    """A misspelt target is an error with the field that is meant; a label of texts that hardly
    repeat is no class; numbers with different units are named."""
    (tmp_path / "a.csv").write_text(
        text(["name", "way", "load"],
             [[f"n{i}" for i in range(N)],
              [f"{i}.5 {('km', 'm')[i % 2]}" for i in range(N)], LOAD])
    )  # fmt: skip
    refused = command("inspect-source", "a.csv", "--target", "laod")
    assert (refused.code, "did you mean load?" in refused.err) == (2, True)
    done = command("inspect-source", "a.csv", "--target", "name")
    assert "learner" not in tomllib.loads(done.out)
    assert '# target = "name" has texts that hardly repeat' in done.out
    assert '# "way" is no number (numbers with different units: km, m)' in done.out


RUN = ("run", "--metrics-port", "0", "--learner", "pool", "--source")


@pytest.mark.parametrize("more", [(), ("--horizon", "1"), ("--horizon", "1h")])
def test_the_newest_first(more, command, tmp_path):
    """A file that runs backwards is refused with the remedy, and named by the proposal."""
    (tmp_path / "a.csv").write_text(text(["at", "load"], [ISO[::-1], LOAD]))
    ran = command(*RUN, "a.csv", "--target", "load", "--time-field", "at", *more).refused()
    assert re.search(r"newest first: (49|59) of .* events are older than the event before", ran.err)
    assert '# "at" falls from record to record' in command("inspect-source", "a.csv").out


def test_files_that_were_joined(command, tmp_path):
    """Where times begin again, one event is older than the one before, and a run says so."""
    hours = [f"{DAY + dt.timedelta(hours=i):%Y-%m-%d %H:%M}" for i in range(300)]
    (tmp_path / "a.csv").write_text(text(["at", "load"], [hours[100:] + hours[:100], range(300)]))
    command("inspect-source", "a.csv")  # from the first command on, warnings go to the log
    with pytest.warns(IlnWarning, match="1 of 300 events are older than the event before"):
        command(*RUN, "a.csv", "--target", "load", "--time-field", "at")


@pytest.mark.parametrize(
    ("labels", "learner", "said"),
    [
        ([i % 7 // 6 for i in range(N)], "pool", "all labels are 0 or 1: for probabilities"),
        (LOAD, "infinite-layer-classifier", "60 labels have 60 classes, and all are numbers"),
    ],
)
def test_labels_of_another_kind_of_learner(labels, learner, said, command, tmp_path):
    """Numbers learned as classes, and two classes as numbers, give scores that mean little."""
    (tmp_path / "a.csv").write_text(text(["temp", "load"], [TEMP, labels]))
    command("inspect-source", "a.csv")  # from the first command on, warnings go to the log
    with pytest.warns(IlnWarning, match=said):
        command(*RUN, "a.csv", "--target", "load", "--learner", learner)


def test_a_run_that_learns_nothing(command, tmp_path):
    """It warns why, and ends with its own exit code; one that learned something ends with 0."""
    (tmp_path / "a.csv").write_text(text(["at", "load"], [ISO, [""] * N]))
    command("inspect-source", "a.csv")  # from the first command on, warnings go to the log
    with pytest.warns(IlnWarning, match="no label is in one of 60 events: 'load' is absent"):
        assert command(*RUN, "a.csv", "--target", "load").code == 3
    (tmp_path / "b.csv").write_text(text(["at", "load"], [ISO, [1.5, *[""] * (N - 1)]]))
    assert command(*RUN, "b.csv", "--target", "load").code == 0
    records = [{"id": f"a{i}", "x": {"a": i}} for i in range(N)]
    records += [{"id": f"A{i}", "y": i} for i in range(N)]
    (tmp_path / "c.jsonl").write_text("\n".join(map(json.dumps, records)))
    with pytest.warns(IlnWarning, match="60 labels have met no event, such as 'A0'; .* 'a0'"):
        assert command(*RUN, "c.jsonl", "--pending-events", "100").code == 3


def test_a_resumed_run_whose_labels_have_not_come(command, tmp_path):
    """Its model has learned before: a supervisor must not take it for a run that never can."""
    log = ("--stop-at-end", "--snapshots", "s", "--pending-events", "100")
    for records in (
        [{"id": "a", "x": {"a": 1}}, {"id": "a", "y": 1}],
        [{"id": "b", "x": {"a": 1}}],
    ):
        append(tmp_path / "log.db", [json.dumps(each).encode() for each in records])
        command("inspect-source", "sqlite:log.db")  # warnings go to the log
        with warnings.catch_warnings(action="ignore"):
            assert command(*RUN, "sqlite:log.db", *log).code == 0


def test_a_field_that_is_renamed(command, tmp_path):
    """The run says which input vanished and which one is new."""
    records = [{"temp" if i < 400 else "temperature": i % 7, "load": i % 7} for i in range(900)]
    (tmp_path / "a.jsonl").write_text("\n".join(map(json.dumps, records)))
    command("inspect-source", "a.jsonl")
    with pytest.warns(IlnWarning, match="the input 'temp' has no value in the .*: temperature"):
        command(*RUN, "a.jsonl", "--target", "load")


def test_empty_ids_are_no_ids(command, tmp_path):
    """Events with an empty id are no repeats of one another, in both forms of records."""
    (tmp_path / "a.jsonl").write_text('{"id": "", "x": {"a": 1}, "y": 2}\n' * 9)
    assert "9 events, 0 dead letters;" in command(*RUN, "a.jsonl", "--recent-ids", "10").err
    (tmp_path / "b.jsonl").write_text('{"id": "", "a": 1, "load": 2}\n' * 9)
    ran = command(*RUN, "b.jsonl", "--recent-ids", "10", "--id-field", "id", "--target", "load")
    assert "9 events, 0 dead letters;" in ran.err


@pytest.mark.parametrize(
    ("last", "code"),
    [(b'{"load": null}', 3), pytest.param(b'{"load": 1.5, "a": 1}', 0, marks=pytest.mark.thorough)],
)
def test_worker_processes_that_learn_nothing(last, code, command, tmp_path):
    """Their run ends with the exit code of one that learned nothing, and with 0 if one learned."""
    command("log", "create", "sqlite:log.db", "--partitions=2")
    with closing(SqliteSink(tmp_path / "log.db", "events", n_partitions=2)) as sink:
        for key in "abcdefgh":
            sink.write(key, b'{"load": null, "a": 1}')
        sink.write("a", last)
    ran = command(
        *("run", "--source=sqlite:log.db", "--target=load", "--workers=2", "--start=earliest"),
        *("--learner-per=partition", "--learner=pool", "--metrics-port=0", "--stop-at-end"),
        "--snapshots=state",
    )
    assert ran.code == code, ran.err
