"""What an attacker writes into a plan: document types, entities, other encodings, and far too much of everything."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["Case", "hostile_plans"]

_MEBI = 1 << 20


class Case(NamedTuple):
    """One hostile file."""

    name: str
    text: bytes
    is_harmless: bool = False
    """It may be read: what looks like an attack does nothing here."""


def _laughs(levels: int, width: int) -> bytes:
    lines = [b'<!ENTITY a0 "ha">']
    lines += [b'<!ENTITY a%d "%s">' % (n, b"&a%d;" % (n - 1) * width) for n in range(1, levels)]
    return b"<!DOCTYPE plan [%s]><plan>&a%d;</plan>" % (b"\n".join(lines), levels - 1)


def _doctypes() -> list[Case]:
    subsets = {
        "empty": b"",
        "empty subset": b" []",
        "system": b' SYSTEM "file:///etc/passwd"',
        "system http": b' SYSTEM "http://127.0.0.1:9/x.dtd"',
        "public": b' PUBLIC "-//X//Y" "http://127.0.0.1:9/x.dtd"',
        "ftp": b' SYSTEM "ftp://127.0.0.1:9/x"',
        "relative": b' SYSTEM "plan.dtd"',
        "internal entity": b' [<!ENTITY a "b">]',
        "external entity": b' [<!ENTITY a SYSTEM "file:///etc/passwd">]',
        "external http": b' [<!ENTITY a SYSTEM "http://127.0.0.1:9/">]',
        "parameter entity": b' [<!ENTITY % a "b"> %a;]',
        "external parameter": b' [<!ENTITY % a SYSTEM "http://127.0.0.1:9/x"> %a;]',
        "out of band": b' [<!ENTITY % f SYSTEM "file:///etc/passwd"><!ENTITY % a SYSTEM "http://127.0.0.1:9/x">%a;]',
        "unparsed entity": b' [<!NOTATION n SYSTEM "n"><!ENTITY a SYSTEM "a.gif" NDATA n>]',
        "attribute default": b' [<!ATTLIST confirm status CDATA "DONE">]',
        "element": b" [<!ELEMENT plan ANY>]",
        "notation": b' [<!NOTATION n PUBLIC "x">]',
        "ignore": b' SYSTEM "x" [<![IGNORE[ ]]>]',
        "many defaults": b" ["
        + b"".join(b'<!ATTLIST plan a%d CDATA "%s">' % (n, b"x" * 1_000) for n in range(500))
        + b"]",
        "recursive": b' [<!ENTITY a "&b;"><!ENTITY b "&a;">]',
        "device": b' SYSTEM "file:///dev/zero"',
        "expect": b' [<!ENTITY a SYSTEM "expect://id">]',
        "php": b' [<!ENTITY a SYSTEM "php://filter/read=convert.base64-encode/resource=x">]',
        "jar": b' [<!ENTITY a SYSTEM "jar:http://127.0.0.1:9/x!/y">]',
        "netdoc": b' [<!ENTITY a SYSTEM "netdoc:/etc/passwd">]',
    }
    heads = {
        "": b"",
        " after a declaration": b'<?xml version="1.0"?>\n',
        " after a comment": b"<!-- <plan> -->\n",
        " after an instruction": b"<?x <plan?> \r\n",
        " after a mark": b"\xef\xbb\xbf",
    }
    return [
        Case(f"document type {name}{place}", head + b"<!DOCTYPE plan" + subset + b"><plan>&a;</plan>")
        for name, subset in subsets.items()
        for place, head in heads.items()
    ]


def _blow_ups() -> list[Case]:
    laughs = [
        Case(f"laughs {levels}x{width}", _laughs(levels, width))
        for levels, width in ((10, 10), (30, 2), (5, 100), (3, 10_000))
    ]
    quadratic = [
        Case(
            f"quadratic blow-up {size}",
            b'<!DOCTYPE plan [<!ENTITY a "' + b"x" * size + b'">]><plan>' + b"&a;" * size + b"</plan>",
        )
        for size in (1_000, 10_000, 100_000)
    ]
    return [*laughs, *quadratic]


def _too_much() -> list[Case]:
    rows: list[tuple[str, bytes]] = []
    for number in (20_000, 200_000, 1_000_000):
        rows += [
            (f"{number} elements", b"<plan>" + b"<a/>" * number + b"</plan>"),
            (f"{number} elements in pairs", b"<plan>" + b"<task></task>" * number + b"</plan>"),
            (f"{number} levels", b"<a>" * number),
            (f"{number} levels and back", b"<a>" * number + b"</a>" * number),
            (f"{number} levels of new names", b"".join(b"<a%d>" % n for n in range(number))),
            (f"{number} attributes", b"<plan " + b" ".join(b'a%d=""' % n for n in range(number)) + b"/>"),
            (f"{number} of one attribute", b"<plan " + b'a="" ' * number + b"/>"),
        ]
    for size in (_MEBI - 100, 2 * _MEBI, 16 * _MEBI):
        rows += [
            (f"name of {size}", b"<" + b"a" * size + b"/>"),
            (f"attribute of {size}", b'<plan a="' + b"x" * size + b'"/>'),
            (f"attribute without an end of {size}", b'<plan a="' + b"x" * size),
            (f"name of an attribute of {size}", b"<plan " + b"x" * size + b'="1"/>'),
            (f"comment of {size}", b"<plan><!--" + b"x" * size + b"--></plan>"),
            (f"comment without an end of {size}", b"<plan><!--" + b"x" * size),
            (f"comment without an end in front of {size}", b"<!--" + b"-" * size),
            (f"instruction of {size}", b"<plan><?a " + b"x" * size + b"?></plan>"),
            (f"instruction without an end of {size}", b"<?a " + b"?" * size),
            (f"reference of {size}", b"<plan>&" + b"x" * size + b";</plan>"),
            (f"number of {size}", b"<plan>&#" + b"0" * size + b"65;</plan>"),
            (f"tag without an end of {size}", b"<plan" + b" " * size),
            (f"CDATA without an end of {size}", b"<plan><![CDATA[" + b"]" * size),
        ]
    rows += [(f"file of {size}", b"<plan>" + b"x" * size + b"</plan>") for size in (_MEBI, 64 * _MEBI)]
    rows.append(("tags in front of each other", b"<" * (_MEBI - 1)))
    rows.append(("closings only", b"</a>" * 200_000))
    rows.append(("65 levels", b"<a>" * 65 + b"</a>" * 65))
    rows.append(("65 attributes", b"<plan " + b" ".join(b'a%d=""' % n for n in range(65)) + b"/>"))
    return [Case(name, text) for name, text in rows]


def _encodings() -> list[Case]:
    plan = '<?xml version="1.0"?><plan><phase id="P1" name="中"/></plan>'
    codecs = ("utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-le", "utf-32-be")
    written = [Case(f"written in {name}", plan.encode(name)) for name in codecs]
    written += [
        Case("written in EBCDIC", plan.replace("中", "x").encode("cp037")),
        Case("written in latin-1", plan.replace("中", "é").encode("latin-1")),
        Case("written in gb18030", plan.encode("gb18030")),
        Case("written in shift_jis", plan.encode("shift_jis")),
    ]
    names = (
        *("utf-7", "utf-16", "UTF-16LE", "utf-32", "latin-1", "iso-8859-1", "windows-1252", "cp037", "idna"),
        *(
            "unicode_escape",
            "raw_unicode_escape",
            "punycode",
            "rot13",
            "zip",
            "base64",
            "hex",
            "mbcs",
            "undefined",
        ),
        *("gb18030", "shift_jis", "big5", "euc-jp", "koi8-r", "x" * 2_000, "tests", "os", "antigravity"),
    )
    told = [
        Case(f"said to be in {name[:20]}", f'<?xml version="1.0" encoding="{name}"?><plan/>'.encode())
        for name in names
    ]
    broken = (
        b"\xff",
        b"\xc0\xaf",
        b"\xed\xa0\x80",
        b"\xf4\x90\x80\x80",
        b"\xe4\xb8",
        b"\x80",
        b"\xef\xbf\xbf",
    )
    invalid = [Case(f"bytes {each.hex()}", b"<plan>" + each + b"</plan>") for each in broken]
    invalid += [Case(f"bytes {each.hex()} in a value", b'<plan a="' + each + b'"/>') for each in broken]
    return [*written, *told, *invalid]


def _malformed() -> list[Case]:
    texts = (
        *(
            b"",
            b" ",
            b"\n" * 100_000,
            b"plan",
            b"{}",
            b"<",
            b"<plan",
            b"<plan>",
            b"</plan>",
            b"<plan></PLAN>",
        ),
        *(b'<plan a="1" a="2"/>', b"<plan a=1/>", b"<plan a/>", b'<plan a="<"/>', b'<plan a="1"b="2"/>'),
        *(b"<plan/><plan/>", b"<plan/>x", b"x<plan/>", b' <?xml version="1.0"?><plan/>', b"<plan>&a;</plan>"),
        *(
            b"<plan>&#0;</plan>",
            b"<plan>&#xD800;</plan>",
            b"<plan>&#x110000;</plan>",
            b"<plan>&#99999999999;</plan>",
        ),
        *(
            b"<plan>\x00</plan>",
            b"<plan>\x01</plan>",
            b"<plan>\x1b[2J</plan>",
            b"<plan>]]></plan>",
            b"<plan>&</plan>",
        ),
        *(b"<1plan/>", b"<plan><![CDATA[</plan>", b"<plan><![IGNORE[]]></plan>", b"<plan>%a;"),
        *(
            b"<!ENTITY a 'b'><plan/>",
            b"<plan><!DOCTYPE plan></plan>",
            b"<plan/><!DOCTYPE plan>",
            b"<!doctype plan><plan/>",
        ),
        *(
            b"\x00",
            b"\x00<plan/>",
            b"<plan/>\x00",
            b"\xff\xfe",
            b"\xfe\xff\x00<",
            b"PK\x03\x04",
            b"\x1f\x8b\x08",
        ),
    )
    return [Case(f"malformed {text[:40]!r}", text) for text in texts]


def _harmless() -> list[Case]:
    include = (
        b'<plan xmlns:xi="http://www.w3.org/2001/XInclude"><xi:include href="file:///etc/passwd"/></plan>'
    )
    schema = b'<plan xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:noNamespaceSchemaLocation="http://127.0.0.1:9/"/>'
    texts = {
        "xinclude": include,
        "schema": schema,
        "style sheet": b'<?xml-stylesheet type="text/xsl" href="http://127.0.0.1:9/x.xsl"?><plan/>',
        "catalogue": b'<?oasis-xml-catalog catalog="http://127.0.0.1:9/"?><plan/>',
        "base": b'<plan xml:base="file:///etc/"><a href="passwd"/></plan>',
        "document type in a comment": b"<!-- <!DOCTYPE plan [ ] > --><plan/>",
        "document type in CDATA": b"<plan><![CDATA[<!DOCTYPE plan>]]></plan>",
        "many comments": b"<plan>" + b"<!---->" * 100_000 + b"</plan>",
        "many comments in front": b"<!---->" * 100_000 + b"<plan/>",
        "many instructions": b"<plan>" + b"<?a?>" * 150_000 + b"</plan>",
        "many references": b"<plan>" + b"&amp;" * 150_000 + b"</plan>",
        "many numbers": b"<plan>" + b"&#x4e2d;" * 100_000 + b"</plan>",
        "many pieces of CDATA": b"<plan>" + b"<![CDATA[\n]]>" * 70_000 + b"</plan>",
        "many lines": b"<plan>" + b"\n" * 1_000_000 + b"</plan>",
        "many returns": b"<plan>" + b"\r" * 1_000_000 + b"</plan>",
        "long text": b"<plan>" + "\U0001f600".encode() * 250_000 + b"</plan>",
        "long text with one wide sign a piece": b"<plan>"
        + (b"x" * 4_000 + "\U0001f600".encode()) * 250
        + b"</plan>",
        "long value": b'<plan a="' + "\U0001f600".encode() * 30_000 + b'"/>',
        "9,990 tasks": b"<plan>" + b'<task id="T1.1" status="TODO" name="x"/>' * 9_990 + b"</plan>",
        "64 levels": b"<a>" * 64 + b"</a>" * 64,
        "64 attributes": b"<plan " + b" ".join(b'a%d=""' % n for n in range(64)) + b"/>",
        "blanks behind": b"<plan/>" + b" " * 1_000_000,
        "comment behind": b"<plan/><!--" + b"x" * 100_000 + b"-->",
    }
    return [Case(f"harmless {name}", text, is_harmless=True) for name, text in texts.items()]


def hostile_plans() -> list[Case]:
    """Return all hostile files, those that may be read last."""
    return [*_doctypes(), *_blow_ups(), *_too_much(), *_encodings(), *_malformed(), *_harmless()]
