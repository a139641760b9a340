"""How hiredis reads RESP, as its source (read.c, and the Python package's reader.c) has it, with a name for each
place where that is not what the specification says. It reads a whole stream at once: hiredis gives the same
however a stream is cut."""

import math
import re

U64 = 2**64 - 1


class Bad(Exception):
    """It is refused."""


class More(Exception):
    """It ends within a reply."""


class ServerError:
    """As a key it is equal to itself alone."""

    def __init__(self, text):
        self.text = text


class Push(list):
    pass


def reads(stream, resp2):
    """The replies, how it ends, and the names of the departures that were met."""
    reader = Reader(stream, resp2)
    replies = []
    while True:
        if reader.at == len(stream):
            return replies, "whole", reader.met
        try:
            replies.append(reader.item(0, False))
        except Bad:
            return replies, "bad", reader.met
        except More:
            return replies, "more", reader.met


# What a line may still become, or may be, by the specification.
BEGUN = {
    b":": rb"([+-]?([0-9]+\r?)?)?",
    b"$": rb"(-(1\r?)?|\?\r?|[0-9]+\r?)?",
    b"*": rb"(-(1\r?)?|\?\r?|[0-9]+\r?)?",
    b"~": rb"(\?\r?|[0-9]+\r?)?",
    b"%": rb"(\?\r?|[0-9]+\r?)?",
    b">": rb"([0-9]+\r?)?",
    b"|": rb"([0-9]+\r?)?",
    b"=": rb"([0-9]+\r?)?",
    b"_": rb"\r?",
    b"#": rb"([tf]\r?)?",
}
BEGUN = {sign: re.compile(pattern + rb"\Z") for sign, pattern in BEGUN.items()}
TEXT = re.compile(rb"[^\r\n]*\r?\Z")
AS_WRITTEN = re.compile(rb"0|-?[1-9][0-9]*")  # string2ll
DOUBLE_THEIRS = re.compile(rb"-?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
DOUBLE = re.compile(rb"[+-]?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?|-?inf|-?(nan|NAN)(\([0-9A-Za-z_]*\))?")
RESP3 = b"_#,(!=%~>|"


class Reader:
    def __init__(self, stream, resp2):
        self.stream = stream
        self.resp2 = resp2
        self.at = 0
        self.met = set()

    def item(self, depth, as_key):
        if self.at == len(self.stream):
            raise More
        sign = self.stream[self.at : self.at + 1]
        self.at += 1
        if self.resp2 and sign in RESP3:
            self.met.add("generation")
        if sign == b"!":
            self.met.add("bulk errors")
            raise Bad
        if sign in b"+-":
            return self.string(sign)
        if sign in b":,_#(":
            return self.small(sign)
        if sign in b"$=":
            return self.bulk(sign)
        if sign in b"*%~>|":
            return self.aggregate(sign, depth, as_key)
        if sign in b";.":
            self.met.add("streamed")
        raise Bad

    def line(self, sign):
        end = self.stream.find(b"\r\n", self.at)
        if end >= 0:
            line = self.stream[self.at : end]
            self.at = end + 2
            return line
        rest = self.stream[self.at :]
        begun = BEGUN.get(sign, TEXT).match(rest)
        if self.resp2 and rest.startswith(b"?"):
            begun = None
        digits = rest.strip(b"+-\r")
        if not begun or digits.isdigit() and sign in b":$*~%>|=" and (int(digits) > U64 or len(digits) > 64):
            self.met.add("told later")
        raise More

    def string(self, sign):
        line = self.line(sign)
        if b"\r" in line or b"\n" in line:
            raise Bad
        return line if sign == b"+" else ServerError(line.decode("utf-8", "replace"))

    def number(self, line, may_have_sign):
        """As string2ll reads it; it takes no form but the one it would write."""
        if AS_WRITTEN.fullmatch(line) and -(2**63) <= int(line) < 2**63:
            return int(line)
        form = rb"[+-]?[0-9]{1,64}" if may_have_sign else rb"[0-9]{1,64}"
        if re.fullmatch(form, line) and -(2**63) <= int(line) < (2**63 if may_have_sign else U64 + 1):
            self.met.add("signs and zeros")
        if line == b"?":
            self.met.add("streamed")
        raise Bad

    def small(self, sign):
        line = self.line(sign)
        if sign == b":":
            return self.number(line, True)
        if sign == b"_":
            if line:
                raise Bad
            return None
        if sign == b"#":
            if len(line) != 1 or line not in b"tTfF\0":  # strchr finds the end of its string
                raise Bad
            if line not in b"tf":
                self.met.add("booleans")
            return line in b"tT"
        if sign == b"(":
            if re.fullmatch(rb"[+-]?[0-9]+", line):
                if line.startswith(b"+"):
                    self.met.add("signs and zeros")
                    raise Bad
                return line
            if re.fullmatch(rb"-?", line):
                self.met.add("big numbers without a digit")
                return line
            raise Bad
        return self.double(line)

    def double(self, line):
        ours = DOUBLE.fullmatch(line)
        low = line.lower()
        if low in (b"inf", b"-inf", b"nan", b"-nan"):
            value = float(low)
        elif DOUBLE_THEIRS.fullmatch(line) and len(line) < 326:
            value = float(line)
            if math.isinf(value) or value == 0 and re.search(rb"[1-9]", re.split(rb"[eE]", line)[0]):
                self.met.add("doubles out of range")
                raise Bad
        else:
            if ours:
                self.met.add("doubles' forms")
            raise Bad
        if not ours:
            self.met.add("doubles' forms")
        return value

    def bulk(self, sign):
        length = self.number(self.line(sign), False)
        if length < -1:
            raise Bad
        if length == -1:
            if sign == b"=":
                self.met.add("nulls")
            return None
        if length > 512 << 20:
            self.met.add("told later")
        text = self.stream[self.at : self.at + length]
        if len(self.stream) < self.at + length + 2:
            if sign == b"=" and length < 4:
                self.met.add("told later")
            raise More
        if self.stream[self.at + length : self.at + length + 2] != b"\r\n":
            self.met.add("ends of bulks")
        if sign == b"=":
            if length < 4 or text[3:4] != b":":
                raise Bad
            text = text[4:]
        self.at += length + 2
        return text

    def aggregate(self, sign, depth, as_key):
        if depth >= 1024:
            self.met.add("depth")
            raise Bad
        if sign == b">" and depth > 0:
            self.met.add("pushes inside")
        if sign == b"|":
            self.met.add("attributes")
        count = self.number(self.line(sign), False)
        if count < -1:
            raise Bad
        if count == -1:
            if sign != b"*":
                self.met.add("nulls")
            return None
        if as_key:
            self.met.add("keys in Python")
            raise Bad  # it is a TypeError: a list has no hash
        if sign == b"%":
            return self.map(count, depth)
        items = Push() if sign == b">" else []
        for _ in range(count * 2 if sign == b"|" else count):
            items.append(self.item(depth + 1, False))
        return items

    def map(self, count, depth):
        """Key and value as reader.c puts them in: the key with None, and then the last pair is the one to fill."""
        pairs = {}
        for _ in range(count):
            key = self.item(depth + 1, True)
            if key in pairs:
                self.met.add("keys in Python")
            pairs[key] = None
            value = self.item(depth + 1, False)
            last, _ = pairs.popitem()
            pairs[last] = value
        return pairs
