"""A command line of sh as simple commands: words, redirections, here-documents. Nothing is ever run or expanded.

A word that a shell would expand (a variable, a command's output, a pattern, braces) has no text here: what it stands
for can't be known without guessing. What the grammar does not hold is a ``ValueError``.
Source of the grammar: POSIX.1-2017, Shell Command Language, 2.2 to 2.10; and bash's ``&>`` and ``<<<``.
"""

from gitlock.domain.value import Value

COMMAND_LIMIT = 1 << 16  # characters; a longer one is a script, and no command whose writes are plain to see
WORD_LIMIT = 4000  # words of one command line

_BLANK = " \t\r"
_META = frozenset(" \t\r\n;&|<>()")
_EXPANDS = frozenset("$`")
_GLOB = frozenset("*?[")
_INTRICATE = ("[[", "case", "select", "function", "coproc", "eval", "alias")  # commands of a grammar of their own


class Word(Value):
    """``text`` is None where a shell would expand it. ``bare`` says that nothing of it was quoted."""

    __slots__ = ("bare", "text")

    def __init__(self, text: str | None, bare: bool) -> None:
        self.text = text
        self.bare = bare


class Simple(Value):
    """One simple command. ``writes`` are the words that output is redirected to; ``here`` is what its here-document
    holds, or None; ``scope`` are the subshells that it stands in; ``alone`` says that it is no part of a pipeline and
    not in the background, so that a ``cd`` of it has an effect on what follows.
    """

    __slots__ = ("alone", "here", "scope", "words", "writes")

    def __init__(
        self, words: tuple[Word, ...], writes: tuple[Word, ...], here: str | None, scope: tuple[int, ...], alone: bool
    ) -> None:
        self.words = words
        self.writes = writes
        self.here = here
        self.scope = scope
        self.alone = alone


class _Building:
    """The command that is being read."""

    __slots__ = ("place", "words", "writes")

    def __init__(self) -> None:
        self.words: list[Word] = []
        self.writes: list[Word] = []
        self.place: int | None = None  # among those that were found, once it is whole


def simple_commands(text: str) -> list[Simple]:
    """The simple commands of a command line, in order."""
    if len(text) > COMMAND_LIMIT or "\0" in text:
        raise ValueError("too long, or no text")
    return _Reader(text).read()


class _Reader:
    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.found: list[Simple] = []
        self.scope: list[int] = []
        self.scopes = 0
        self.piped = False  # the command before ended in "|"
        self.count = 0
        self.pending: list[tuple[str, bool, _Building]] = []  # here-documents whose bodies begin at the next line

    def read(self) -> list[Simple]:
        now = _Building()
        while self.at < len(self.text):
            char = self.text[self.at]
            if char in _BLANK:
                self.at += 1
            elif char == "#":
                self._skip_comment()
            elif self.text.startswith("\\\n", self.at):
                self.at += 2
            elif char == "\n":
                now = self._end(now, "\n")
                self.at += 1
                self._bodies()
            elif char in ";&|()" and not self.text.startswith("&>", self.at):
                now = self._operator(now)
            elif char in "<>" or self.text.startswith("&>", self.at):
                self._redirection(now)
            else:
                word = self._word()
                after = self.text[self.at : self.at + 1]
                if after and after in "<>" and word.bare and word.text is not None and word.text.isdigit():
                    continue  # the number of a descriptor: 2>file
                now.words.append(word)
        self._end(now, "")
        if self.scope or any(building.place is None for _, _, building in self.pending):
            raise ValueError("it does not end")
        return self.found

    def _operator(self, now: _Building) -> _Building:
        char = self.text[self.at]
        double = self.text[self.at : self.at + 2]
        if char == "(":
            if now.words or now.writes:
                raise ValueError("a function, or an array")
            if double == "((":
                raise ValueError("arithmetic")
            self.scopes += 1
            self.scope.append(self.scopes)
            self.at += 1
            return now
        if char == ")":
            now = self._end(now, ")")
            if not self.scope:
                raise ValueError("a bracket too many")  # also the patterns of case
            self.scope.pop()
            self.at += 1
            return now
        operator = double if double in ("&&", "||", ";;", "|&") else char
        if operator == ";;":
            raise ValueError("case")
        now = self._end(now, operator)
        self.at += len(operator)
        return now

    def _end(self, now: _Building, operator: str) -> _Building:
        """The command is whole. Here-documents may still fill it: it is made when their bodies were read."""
        if not now.words and not now.writes:
            return now
        if now.words and now.words[0].bare and now.words[0].text in _INTRICATE:
            raise ValueError("too intricate")
        alone = not self.piped and operator not in ("|", "|&", "&")
        self.piped = operator in ("|", "|&")
        now.place = len(self.found)
        self.found.append(Simple(tuple(now.words), tuple(now.writes), None, tuple(self.scope), alone))
        return _Building()

    def _bodies(self) -> None:
        """Reads the here-documents that were announced on the line before."""
        for end, tabs, building in self.pending:
            lines = []
            while True:
                if self.at >= len(self.text):
                    break  # bash takes the end of its input for the end of the document
                line, newline, _ = self.text[self.at :].partition("\n")
                self.at += len(line) + len(newline)
                line = line.lstrip("\t") if tabs else line
                if line == end:
                    break
                lines.append(line + "\n")
            if building.place is not None:
                self.found[building.place] = self.found[building.place].replace(here="".join(lines))
        self.pending = []

    def _redirection(self, now: _Building) -> None:
        text, at = self.text, self.at
        for operator in ("<<<", "<<-", "<<", "&>>", "&>", ">>", ">|", ">&", "<&", "<>", "<", ">"):
            if text.startswith(operator, at):
                break
        if operator in ("<", ">") and text.startswith("(", at + 1):
            raise ValueError("process substitution")
        self.at += len(operator)
        while self.text[self.at : self.at + 1] in (" ", "\t"):
            self.at += 1
        if self.at >= len(text) or text[self.at] in _META:
            raise ValueError("a redirection to nothing")
        word = self._word()
        if operator in ("<<", "<<-"):
            if word.text is None:
                raise ValueError("a here-document with a strange end")
            self.pending.append((word.text, operator == "<<-", now))
            return
        descriptor = word.text is not None and (word.text.isdigit() or word.text == "-")
        if operator in (">", ">>", ">|", "&>", "&>>", "<>") or (operator == ">&" and not descriptor):
            now.writes.append(word)

    def _skip_comment(self) -> None:
        end = self.text.find("\n", self.at)
        self.at = len(self.text) if end < 0 else end

    def _word(self) -> Word:
        """One word, as it stands after quotes were removed."""
        self.count += 1
        if self.count > WORD_LIMIT:
            raise ValueError("too many words")
        text, parts, bare, clear = self.text, [], True, True
        start = self.at
        while self.at < len(text) and text[self.at] not in _META:
            char = text[self.at]
            if char == "'":
                end = text.index("'", self.at + 1)
                parts.append(text[self.at + 1 : end])
                self.at, bare = end + 1, False
            elif char == '"':
                clear = self._double(parts) and clear
                bare = False
            elif char == "\\":
                following = text[self.at + 1 : self.at + 2]
                if following != "\n":
                    parts.append(following)
                self.at, bare = self.at + 2, False
            else:
                if char in _EXPANDS:
                    clear = False
                    self._substitution()
                    continue
                if char in _GLOB or (char == "~" and self.at == start and text[self.at + 1 : self.at + 2] != "/"):
                    clear = False
                if char == "{" and self._is_brace(self.at):
                    clear = False
                parts.append(char)
                self.at += 1
        joined = "".join(parts)
        return Word(joined if clear or (bare and joined in ("[", "[[")) else None, bare)

    def _double(self, parts: list[str]) -> bool:
        """The inside of double quotes; whether nothing in it is expanded."""
        text, clear = self.text, True
        self.at += 1
        while True:
            if self.at >= len(text):
                raise ValueError("a quote does not end")
            char = text[self.at]
            if char == '"':
                self.at += 1
                return clear
            if char == "\\" and text[self.at + 1 : self.at + 2] in ("\\", '"', "$", "`", "\n"):
                following = text[self.at + 1]
                parts.append("" if following == "\n" else following)
                self.at += 2
            elif char in _EXPANDS:
                clear = False
                self._substitution()
            else:
                parts.append(char)
                self.at += 1

    def _substitution(self) -> None:
        """Passes over ``$name``, ``${…}``, ``$(…)`` or a backquoted command, whatever is in it."""
        text = self.text
        if text[self.at] == "`":
            end = text.index("`", self.at + 1)
            if "\\" in text[self.at : end]:
                raise ValueError("nested backquotes")
            self.at = end + 1
            return
        opening = text[self.at + 1 : self.at + 2]
        if opening == "'":
            raise ValueError("$'…'")
        if opening not in ("(", "{"):
            self.at += 1
            return
        closing = {"(": ")", "{": "}"}[opening]
        depth, at = 0, self.at + 1
        while at < len(text):
            char = text[at]
            if char in "'\"`#" or text.startswith("<<", at):
                raise ValueError("too intricate")
            if char == "\\":
                at += 1
            elif char == opening:
                depth += 1
            elif char == closing:
                depth -= 1
                if not depth:
                    self.at = at + 1
                    return
            at += 1
        raise ValueError("a substitution does not end")

    def _is_brace(self, at: int) -> bool:
        """Whether braces that begin here would be expanded: they hold a comma or two dots."""
        end = at
        while end < len(self.text) and self.text[end] not in _META:
            end += 1
        inside = self.text[at:end]
        return "}" in inside and ("," in inside or ".." in inside)
