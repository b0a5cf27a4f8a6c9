"""Support for the tests: nothing here is collected, and only ``clock``, ``agents`` and ``hostile``
know the package's insides.

``repo``       real repositories that tell a story, and the real program run in them
``processes``  many processes at one moment, one in the background, all reaped whatever happens
``clock``      time that is moved by hand
``agents``     agents at work on a store, without a command line between
``hostile``    a repository whose store something happens to
``redact``     times, ids and paths as placeholders, so that whole outputs can be compared
"""
