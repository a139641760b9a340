"""Gives hiredis the streams of `second_opinion`, and compares what it reads with what the crate read.

Every difference must be one that `their_way` has a name for: it must say to the last value what hiredis reads, and
where it met nothing that has a name, the crate must have read the same. Exits 1 where that does not hold."""

import collections
import json
import re
import struct
import sys
import threading

import hiredis
import their_way

NOT_ENOUGH = object()
MARK = b"a mark that no stream has"
# A header reserves what it promises: no machine has that.
TOO_LARGE = re.compile(rb"[*%~>|]\+?[0-9]{7}")


def theirs(stream, lengths):
    """The replies, and how it ends."""
    reader = hiredis.Reader(notEnoughData=NOT_ENOUGH, replyError=their_way.ServerError)
    replies = []
    at = 0
    try:
        for length in lengths:
            reader.feed(stream[at : at + length])
            at += length
            while (reply := reader.gets()) is not NOT_ENOUGH:
                replies.append(shown(reply))
    except (hiredis.ProtocolError, TypeError):
        return replies, "bad"
    try:
        reader.feed(b"+" + MARK + b"\r\n")
        return replies, "whole" if reader.gets() == MARK else "more"
    except (hiredis.ProtocolError, TypeError):
        return replies, "more"


def shown(reply):
    """A reply of hiredis, to compare: what Python holds equal (1, 1.0, True) is not."""
    if reply is None or isinstance(reply, (bytes, bool)):
        return reply if reply is None or isinstance(reply, bytes) else ("boolean", reply)
    if isinstance(reply, int):
        return ("integer", reply)
    if isinstance(reply, float):
        return ("double", "nan" if reply != reply else struct.pack(">d", reply))
    if isinstance(reply, their_way.ServerError):
        return ("error", reply.text)
    if isinstance(reply, (hiredis.PushNotification, their_way.Push)):
        return ("push", [shown(item) for item in reply])
    if isinstance(reply, list):
        return [shown(item) for item in reply]
    if isinstance(reply, dict):
        return ("map", [(shown(key), shown(value)) for key, value in reply.items()])
    raise ValueError(reply)


def ours(value):
    """A reply of the crate in the same form, which knows fewer kinds."""
    ((kind, value),) = value.items()
    if kind in ("simple", "bignum"):
        return value.encode()
    if kind in ("simple_hex", "bulk_hex"):
        return bytes.fromhex(value)
    if kind == "verbatim":
        return bytes.fromhex(value[1])
    if kind == "null":
        return None
    if kind == "bool":
        return ("boolean", value)
    if kind == "int":
        return ("integer", value)
    if kind == "double":
        return ("double", "nan" if value == "nan" else struct.pack(">d", float(value)))
    if kind == "error":
        return ("error", value)
    if kind in ("error_hex", "blob_error_hex"):
        return ("error", bytes.fromhex(value).decode("utf-8", "replace"))
    if kind in ("array", "set"):
        return [ours(item) for item in value]
    if kind == "push":
        return ("push", [ours(item) for item in value])
    if kind == "map":
        return ("map", [(ours(key), ours(item)) for key, item in value])
    if kind == "attribute":
        attributes = [(ours(key), ours(item)) for key, item in value["attrs"]]
        return ("attribute", attributes, ours(value["value"]))
    raise ValueError(kind)


def compare():
    counts = collections.Counter()
    names = collections.Counter()
    alone = {}
    failed = 0
    for line in sys.stdin:
        generation, stream, lengths, end, *replies = line.rstrip("\n").split("\t")
        stream = bytes.fromhex(stream)
        lengths = [int(length) for length in lengths.split(",") if length]
        counts["streams"] += 1
        counts["pieces"] += len(lengths)
        counts["bytes"] += len(stream)
        if TOO_LARGE.search(stream):
            counts["left out"] += 1
            continue
        counts[f"RESP{generation}"] += 1
        crate = ([ours(json.loads(reply)) for reply in replies], end)
        them = theirs(stream, lengths)
        counts["replies"] += len(crate[0])
        counts[end] += 1
        counts["the same"] += crate == them
        told, told_end, met = their_way.reads(stream, generation == "2")
        if ([shown(reply) for reply in told], told_end) != them:
            wrong = "hiredis does what their_way does not know"
        elif crate != them and not met:
            wrong = "a difference without a name"
        else:
            names.update(met if crate != them else ())
            if crate != them and len(met) == 1:
                alone.setdefault(next(iter(met)), (stream, crate, them))
            continue
        failed += 1
        if failed <= 10:
            print(f"{wrong}: RESP{generation} {stream}\n  the crate {crate}\n  hiredis   {them}\n  met {met}, told {told_end}")
    differ = counts["streams"] - counts["left out"] - counts["the same"]
    print(f"hiredis {hiredis.__version__}")
    print(", ".join(f"{count} {name}" for name, count in counts.items()))
    print(f"{differ} differ, {failed} of them for no reason that has a name")
    for name, count in names.most_common():
        print(f"{count:8} {name}")
        if "--examples" in sys.argv and name in alone:
            print("         {} the crate {} hiredis {}".format(*alone[name]))
    sys.stdout.flush()
    return failed > 0 or not counts["streams"]


def main():
    # As deep as a reply may be nested.
    sys.setrecursionlimit(100_000)
    threading.stack_size(512 << 20)
    found = []
    thread = threading.Thread(target=lambda: found.append(compare()))
    thread.start()
    thread.join()
    sys.exit(found != [False])


main()
