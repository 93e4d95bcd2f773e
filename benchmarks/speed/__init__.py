"""Benchmarks of speed, compared with the machine's limit and other online regressors.

`findings.Findings` are tables; a section is a module whose `measure(effort)` returns some. How to
run and to read them: docs/benchmarks.md.
"""
