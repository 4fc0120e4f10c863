"""URLs and email addresses have one spelling, and hosts are limited by patterns."""

from __future__ import annotations

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cairn.core.destinations import HostPattern, common_hosts, is_covered, is_host_covered, parse_email, parse_url


@pytest.mark.parametrize(
    ("text", "url"),
    [
        ("http://H.Example.COM:80", "http://h.example.com/"),
        ("https://b\u00fccher.de./a", "https://xn--bcher-kva.de/a"),
        ("https://x.de/%7ea/%2e%2e/b?x='y'&z=%zz|{}#part", "https://x.de/b?x='y'&z=%25zz%7C%7B%7D"),
        ("http://[::0001]:8080/", "http://[::1]:8080/"),
        ("http://a.de//b//../c", "http://a.de//b/c"),
        ("http://a.de/..", "http://a.de/"),
        ("http://a.de/b/.", "http://a.de/b/"),
        ("https://a.de/\u00e9?\u00fc=1", "https://a.de/%C3%A9?%C3%BC=1"),
        ("http://\uff11\uff12\uff17.0.0.1/", "http://127.0.0.1/"),
        ("http://a_b.de/", "http://a_b.de/"),
    ],
)
def test_a_url_has_one_spelling(text: str, url: str) -> None:
    assert parse_url(text).url == url
    assert parse_url(url).url == url


@pytest.mark.parametrize(
    "text",
    [
        "",
        "example.com",
        "//example.com",
        "file:///etc/passwd",
        "http://",
        "http://.",
        "http://a..b/",
        "http://-a.de/",
        "http://user@h.de/",
        "http://user:password@h.de/",
        "http://@h.de/",
        "http://h.de:0/",
        "http://h.de:65536/",
        "http://h.de:x/",
        "http://[::1]evil.example/",
        "http://[fe80::1%25eth0]/",
        "http://[::1/",
        "http://0x7f.1/",
        "http://017700000001/",
        "http://127.1/",
        "http://127.0.0.01/",
        "http://h.de/a b",
        "http://h.de/\ta",
        "http://h.de\\@evil.example/",
        "http://h.de/\u200b",
        "http://h%2ede/",
        "http://" + "a" * 64 + ".de/",
        "http://h.de/" + "a" * 4000,
    ],
)
def test_an_ambiguous_url_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"\S"):
        parse_url(text)


PARTS = st.text(st.characters(codec="utf-8", exclude_categories=("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp", "Zs")))


@given(PARTS, PARTS, st.sampled_from(["http://h.de", "https://h.de:8443", "http://[::1]"]))
def test_the_client_sends_the_url_as_it_is(path: str, query: str, origin: str) -> None:
    try:
        found = parse_url(f"{origin}/{path}?{query}")
    except ValueError:
        return
    sent = httpx.URL(found.url)
    assert str(sent) == found.url
    assert sent.raw_path.decode().partition("?")[0] == found.path
    assert parse_url(found.url) == found


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("Ann@Corp.COM", "Ann@corp.com"),
        ("\u00fc@b\u00fccher.de", "\u00fc@xn--bcher-kva.de"),
        ("ann@localhost", "ann@localhost"),
        ("ann", None),
        ("ann@", None),
        ("@corp.com", None),
        ("ann@bob@corp.com", None),
        ("ann@corp.com,eve@evil.example", None),
        ("Ann <ann@corp.com>", None),
        ('"a b"@corp.com', None),
        ("ann@[127.0.0.1]", None),
        ("ann@127.0.0.1", None),
        ("ann\r\n@corp.com", None),
        ("a\u200bnn@corp.com", None),
        ("ann@co\u200brp.com", None),
    ],
)
def test_an_email_address_is_plain(text: str, address: str | None) -> None:
    if address is None:
        with pytest.raises(ValueError, match=r"\S"):
            parse_email(text)
    else:
        assert parse_email(text) == address


@pytest.mark.parametrize(
    ("patterns", "url", "covered"),
    [
        (["api.bank.com"], "https://api.bank.com/x", True),
        (["API.bank.com."], "https://api.bank.com:443/", True),
        (["api.bank.com"], "http://api.bank.com/", False),
        (["api.bank.com"], "https://api.bank.com:8443/", False),
        (["api.bank.com:8443"], "https://api.bank.com:8443/", True),
        (["http://api.bank.com"], "http://api.bank.com/", True),
        (["*.bank.com"], "https://a.b.bank.com/", True),
        (["*.bank.com"], "https://bank.com/", False),
        (["*.bank.com"], "https://evilbank.com/", False),
        (["bank.com"], "https://api.bank.com/", False),
        (["http://[::1]:9"], "http://[::1]:9/", True),
        ([], "https://api.bank.com/", False),
    ],
)
def test_a_pattern_covers_exactly_its_hosts(patterns: list[str], url: str, *, covered: bool) -> None:
    assert is_covered(patterns, parse_url(url)) is covered


def test_domains_of_emails_have_no_scheme() -> None:
    assert is_host_covered(["corp.com:8443"], "corp.com")
    assert not is_host_covered(["corp.com"], "sub.corp.com")


@pytest.mark.parametrize(
    "text", ["", "*", "*.1.2.3.4", "a/b", "https://a.de/b", "a b", "user@a.de", "ftp://a.de", "a.de?"]
)
def test_a_pattern_is_a_host(text: str) -> None:
    with pytest.raises(ValueError, match=r"\S"):
        HostPattern.parse(text)


def test_common_hosts_are_in_both_lists() -> None:
    ours = ["*.bank.com", "a.com"]
    assert common_hosts(ours, ["api.bank.com", "*.a.com", "a.com", "*.x.bank.com"]) == (
        "api.bank.com",
        "a.com",
        "*.x.bank.com",
    )
    assert common_hosts(ours, ours) == ("*.bank.com", "a.com")
    assert common_hosts(ours, ["evil.example"]) == ()
