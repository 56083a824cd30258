"""What the seccomp filter refuses, with the numbers of each architecture.

A list of what is refused, not of what is allowed: job code is anything, and namespaces, an unprivileged user and no
capabilities already keep it in. The filter takes away what has let programs out of such places before, and what an
ordinary program never calls.
"""

from typing import Final, NamedTuple


class Architecture(NamedTuple):
    audit: int
    """AUDIT_ARCH_…, which the kernel puts beside the number of each call."""
    column: int
    """Where its numbers are in `REFUSED`."""
    engine_name: str
    """As container engines call it."""


ARCHITECTURES: Final = {
    "x86_64": Architecture(0xC000003E, 0, "SCMP_ARCH_X86_64"),
    "aarch64": Architecture(0xC00000B7, 1, "SCMP_ARCH_AARCH64"),
}

REFUSED: Final[dict[str, tuple[int | None, int | None]]] = {
    # Mounts and roots.
    "mount": (165, 40), "umount2": (166, 39), "pivot_root": (155, 41), "chroot": (161, 51),
    "open_tree": (428, 428), "move_mount": (429, 429), "fsopen": (430, 430), "fsconfig": (431, 431),
    "fsmount": (432, 432), "fspick": (433, 433), "mount_setattr": (442, 442), "open_tree_attr": (467, 467),
    # Other namespaces.
    "unshare": (272, 97), "setns": (308, 268),
    # Other processes.
    "ptrace": (101, 117), "process_vm_readv": (310, 270), "process_vm_writev": (311, 271), "kcmp": (312, 272),
    "pidfd_getfd": (438, 438), "process_madvise": (440, 440),
    # Keys are not in any namespace.
    "add_key": (248, 217), "request_key": (249, 218), "keyctl": (250, 219),
    # Large and often broken parts of the kernel.
    "bpf": (321, 280), "perf_event_open": (298, 241), "userfaultfd": (323, 282), "fanotify_init": (300, 262),
    "io_uring_setup": (425, 425), "io_uring_enter": (426, 426), "io_uring_register": (427, 427),
    # The host itself.
    "kexec_load": (246, 104), "kexec_file_load": (320, 294), "init_module": (175, 105), "finit_module": (313, 273),
    "delete_module": (176, 106), "create_module": (174, None), "query_module": (178, None),
    "get_kernel_syms": (177, None), "reboot": (169, 142), "swapon": (167, 224), "swapoff": (168, 225),
    "settimeofday": (164, 170), "clock_settime": (227, 112), "clock_adjtime": (305, 266), "adjtimex": (159, 171),
    "sethostname": (170, 161), "setdomainname": (171, 162), "syslog": (103, 116), "acct": (163, 89),
    "quotactl": (179, 60), "quotactl_fd": (443, 443), "vhangup": (153, 58), "iopl": (172, None), "ioperm": (173, None),
    # Files by number instead of by path.
    "name_to_handle_at": (303, 264), "open_by_handle_at": (304, 265),
    # Placement of memory on a machine with several banks of it.
    "migrate_pages": (256, 238), "move_pages": (279, 239),
    # Nobody uses them any more.
    "nfsservctl": (180, 42), "lookup_dcookie": (212, 18), "uselib": (134, None), "ustat": (136, None),
    "sysfs": (139, None), "_sysctl": (156, None), "modify_ldt": (154, None), "vserver": (236, None),
    "afs_syscall": (183, None), "tuxcall": (184, None), "security": (185, None), "getpmsg": (181, None),
    "putpmsg": (182, None), "epoll_ctl_old": (214, None), "epoll_wait_old": (215, None),
}  # fmt: skip

# Calls that are refused by what is in their arguments.
CLONE: Final = (56, 220)
CLONE3: Final = (435, 435)
"""Its flags are in memory, where a filter cannot look. Programs take `clone` when they are told it is not there."""
IOCTL: Final = (16, 29)
SOCKET: Final = (41, 198)
SOCKETPAIR: Final = (53, 199)
PERSONALITY: Final = (135, 92)

NAMESPACE_FLAGS: Final = (0x00020000, 0x02000000, 0x04000000, 0x08000000, 0x10000000, 0x20000000, 0x40000000)
"""CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET."""
TYPING: Final = (0x5412, 0x541C)
"""TIOCSTI and TIOCLINUX put characters into a terminal as if somebody had typed them."""
AF_NETLINK: Final = 16
FAMILIES: Final = (1, 2, 10, AF_NETLINK)
"""AF_UNIX, AF_INET, AF_INET6; of netlink only the part that lists addresses and routes."""
NETLINK_ROUTE: Final = 0
LAST_FAMILY: Final = 64
"""Beyond any that the kernel has."""
PLAIN_PERSONALITY: Final = 0
X32_BIT: Final = 0x40000000
