"""What may be called, and what may not, however it is spelt."""

from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network

import pytest
from hypothesis import given
from hypothesis import strategies as st

from horae.model.addresses import REFUSED, read_networks, why_not
from horae.model.errors import Forbidden, InvalidInput
from horae.worker.web.guard import check_url

INSIDE = """
0.0.0.0 0.1.2.3 10.0.0.1 10.255.255.255 100.64.0.1 100.100.100.200 100.127.255.255 127.0.0.1 127.1.2.3 127.255.255.255
168.63.129.16 169.254.0.1 169.254.169.253 169.254.169.254 169.254.170.2 172.16.0.1 172.31.255.255 192.0.0.1 192.0.0.192
192.0.2.1 192.88.99.1 192.168.0.1 192.168.255.255 198.18.0.1 198.19.255.255 198.51.100.7 203.0.113.9 224.0.0.1
239.255.255.255 240.0.0.1 255.255.255.254 255.255.255.255
:: ::1 ::2 ::7f00:1 ::127.0.0.1 ::8.8.8.8 ::ffff:127.0.0.1 ::ffff:7f00:1 ::ffff:8.8.8.8 ::ffff:0:127.0.0.1
64:ff9b::7f00:1 64:ff9b::8.8.8.8 64:ff9b:1::a00:1 64:ff9b:1:ffff::1 100::1 2001::1 2001:0:4136:e378:8000:63bf:3fff:fdd2
2001:10::1 2001:20::1 2001:db8::1 2002:7f00:1:: 2002:a00:1::1 2002:808:808::1 3ffe::1 3fff::1 4000::1 5f00::1 fc00::1
fd00::1 fd00:ec2::254 fd20:ce::254 fdff:ffff::1 fe80::1 fe80::a9fe:a9fe febf::1 fec0::1 ff02::1 ff05::2
"""
OUTSIDE = """
1.1.1.1 8.8.8.8 9.255.255.255 11.0.0.0 93.184.216.34 100.63.255.255 100.128.0.0 126.255.255.255 128.0.0.1
168.63.129.15 168.63.129.17 169.253.255.255 169.255.0.0 172.15.255.255 172.32.0.0 192.0.1.1 192.167.255.255 192.169.0.0
198.17.255.255 198.20.0.0 223.255.255.255 2001:200::1 2001:4860:4860::8888 2606:4700:4700::1111 2620:fe::9 2a00:1450::1
"""

SPELLINGS = """
http://2130706433/ http://017700000001/ http://0x7f000001/ http://0x7f.1/ http://127.1/ http://127.0.1/ http://0177.0.0.1/
http://0x7f.0x0.0x0.0x1/ http://127.0.0.01/ http://127.000.000.001/ http://127.0.0.1./ http://127.0.0.1../ http://0/
http://0x0/ http://0.0.0.0./ http://3232235777/ http://1.2.3.4.5/ http://256.256.256.256/ http://example.com./
http://evil.example@127.0.0.1/ http://127.0.0.1@evil.example/ http://user:pass@example.com/ http://:@example.com/
http://a@b@example.com/ http://example.com\\@127.0.0.1/ http://127.0.0.1%2f@example.com/ http://%31%32%37.0.0.1/
http://127%2e0%2e0%2e1/ http://[::1%25lo]/ http://[fe80::1%25eth0]/ http://[127.0.0.1]/ http://[::1/
http://exa%00mple.com/ http://.example.com/ http://example..com/ http://-a.example/ http://a-.example/ http:///x http://
http://example.com:0/ http://example.com:65536/ http://example.com:x/ ftp://example.com/ file:///etc/passwd
gopher://127.0.0.1:70/_x data:text/plain,x javascript:alert(1) //example.com/x /only/a/path example.com unix:///run/x.sock
"""
IN_DISGUISE = """
http://①②⑦.⓪.⓪.①/ http://127。0。0。1/ http://１２７.0.0.1/ http://127．0．0．1/ http://[::ffff:127.0.0.1]/
http://[0:0:0:0:0:ffff:7f00:1]/ http://[::FFFF:A9FE:A9FE]/ https://[::]/ http://127.0.0.1:8080/ HTTP://127.0.0.1/
"""


@pytest.mark.parametrize("text", INSIDE.split())
def test_what_is_not_of_the_public_internet_is_refused(text):
    assert why_not(ip_address(text)) is not None


@pytest.mark.parametrize("text", OUTSIDE.split())
def test_the_public_internet_may_be_called(text):
    assert why_not(ip_address(text)) is None


@pytest.mark.parametrize("url", SPELLINGS.split())
def test_an_odd_spelling_is_refused_even_where_all_is_allowed(url):
    with pytest.raises(InvalidInput):
        check_url(url, read_networks(["0.0.0.0/0", "::/0"]))


@pytest.mark.parametrize("url", IN_DISGUISE.split())
def test_an_address_is_known_in_any_script(url):
    with pytest.raises(Forbidden, match="allow-networks"):
        check_url(url, ())


@pytest.mark.parametrize(
    "url",
    ["https://example.com", "http://example.com:8080/a?b=c#d", "https://bücher.example/", "http://a_b.example/x",
     "https://xn--bcher-kva.example/", "https://1.1.1.1/x", "http://[2606:4700:4700::1111]:8080/", "http://1and1.example"],
)  # fmt: skip
def test_usual_addresses_pass(url):
    check_url(url, ())


def test_what_was_judged_is_what_is_called():
    assert str(check_url("HTTP://EXAMPLE.com:80/a b/../c", ()).origin()) == "http://example.com"


ipv4 = st.integers(0, 2**32 - 1).map(IPv4Address)
ipv6 = st.integers(0, 2**128 - 1).map(IPv6Address)
inner = st.sampled_from([network for network, _ in REFUSED if network.version == 4]).flatmap(
    lambda network: st.integers(int(network[0]), int(network[-1])).map(IPv4Address)
)


@given(ipv4 | ipv6)
def test_nothing_that_python_calls_special_gets_by(address):
    if not address.is_global or address.is_multicast or address.is_reserved:
        assert why_not(address) is not None


@given(inner)
def test_an_inner_address_is_refused_however_it_is_wrapped(address):
    number = int(address)
    wrapped = [
        IPv6Address(number),
        IPv6Address((0xFFFF << 32) | number),
        IPv6Address((0x64FF9B << 96) | number),
        IPv6Address((0x64FF9B0001 << 80) | number),
        IPv6Address((0x2002 << 112) | (number << 80) | 1),
        IPv6Address((0x20010000 << 96) | (number ^ 0xFFFFFFFF)),
    ]
    assert [str(one) for one in (address, *wrapped) if why_not(one) is None] == []


@given(inner)
def test_no_spelling_of_an_inner_address_passes(address):
    a, b, c, d = address.packed
    number = int(address)
    spellings = [
        f"{a}.{b}.{c}.{d}", f"{number}", f"{number:#x}", f"0{number:o}", f"{a}.{b}.{(c << 8) | d}",
        f"{a}.{(b << 16) | (c << 8) | d}", f"{a:#x}.{b:#x}.{c:#x}.{d:#x}", f"0{a:o}.0{b:o}.0{c:o}.0{d:o}",
        f"{a}.{b}.{c}.{d}.", f"{a:#x}.{b}.0{c:o}.{d}", f"[::ffff:{a}.{b}.{c}.{d}]", f"[::{a}.{b}.{c}.{d}]",
        f"[64:ff9b::{a}.{b}.{c}.{d}]", f"user@{a}.{b}.{c}.{d}",
    ]  # fmt: skip
    for host in spellings:
        with pytest.raises((InvalidInput, Forbidden)):
            check_url(f"http://{host}/", ())


@given(ipv4 | ipv6, st.integers(0, 32))
def test_an_operator_allows_a_network_and_no_more(address, bits):
    length = bits if address.version == 4 else bits * 4
    network = ip_network(f"{address}/{length}", strict=False)
    assert why_not(address, [network]) is None


def test_allowing_one_network_leaves_the_others_refused():
    allowed = read_networks([" 10.0.0.0/8", "127.0.0.1", "fd00::/8"])
    assert [why_not(ip_address(text), allowed) for text in ("10.1.2.3", "127.0.0.1", "fd12::1")] == [None] * 3
    for text in ("127.0.0.2", "192.168.0.1", "::ffff:10.1.2.3", "::ffff:127.0.0.1", "fe80::1"):
        assert why_not(ip_address(text), allowed) is not None


@pytest.mark.parametrize("text", ["10.0.0.1/8", "10/8", "localhost", "", "10.0.0.0/33", "all"])
def test_a_network_that_cannot_be_read_is_named(text):
    with pytest.raises(InvalidInput, match="allow_networks"):
        read_networks([text])
