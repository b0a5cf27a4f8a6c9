"""Support for the tests: nothing here is collected, and nothing here knows the package's insides.

``repo``       real repositories that tell a story, and the real program run in them
``processes``  many processes at one moment, one in the background, all reaped whatever happens
``redact``     times, ids and paths as placeholders, so that whole outputs can be compared
"""
