"""One verb a file: plain functions that take values, return outcomes, and never print."""
