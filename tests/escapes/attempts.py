"""The attempts: what a hostile job would try, each a few lines of Python that say whether they got through.

Every one runs in the sandbox, where it must be refused, and on the bare host, where it must succeed: an attempt that
fails there too would prove nothing. So each is harmless: what it would break is made for it by the test (`bait`), a
bomb has a bound that larger limits allow, and a call of the kernel that could do damage is made with arguments that it
refuses later.
"""

from typing import NamedTuple

CALLS = {
    "mount": (165, 40),
    "unshare": (272, 97),
    "setns": (308, 268),
    "ptrace": (101, 117),
    "keyctl": (250, 219),
    "add_key": (248, 217),
    "bpf": (321, 280),
    "io_uring_setup": (425, 425),
    "perf_event_open": (298, 241),
    "userfaultfd": (323, 282),
    "process_vm_readv": (310, 270),
    "name_to_handle_at": (303, 264),
    "open_by_handle_at": (304, 265),
    "pivot_root": (155, 41),
    "init_module": (175, 105),
    "delete_module": (176, 106),
    "swapon": (167, 224),
    "reboot": (169, 142),
    "kexec_load": (246, 104),
    "quotactl": (179, 60),
    "umount2": (166, 39),
    "personality": (135, 92),
    "settimeofday": (164, 170),
    "clone": (56, 220),
    "ioctl": (16, 29),
    "chroot": (161, 51),
    "move_mount": (429, 429),
    "fsopen": (430, 430),
    "open_tree": (428, 428),
    "acct": (163, 89),
    "syslog": (103, 116),
}
"""Their numbers on x86_64 and aarch64."""

PRELUDE = """
import ctypes, errno, glob, json, mmap, os, resource, shutil, signal, socket, subprocess, sys, time
bait = json.load(open(os.environ["HORAE_PARAMS"]))
libc = ctypes.CDLL(None, use_errno=True)

def read_all(pattern):
    found = b""
    for name in glob.glob(pattern):
        try:
            found += open(name, "rb").read()
        except OSError:
            pass
    return found

def call(name, *arguments):
    "True when the kernel let it through, even if it then found the arguments wanting."
    number = {"x86_64": 0, "aarch64": 1}[os.uname().machine]
    ctypes.set_errno(0)
    given = [ctypes.c_long(value) if isinstance(value, int) else value for value in arguments]
    result = libc.syscall(ctypes.c_long(CALLS[name][number]), *given)
    return result >= 0 or ctypes.get_errno() not in (errno.EPERM, errno.ENOSYS, errno.EACCES)

CALLS = NUMBERS

def attempt():
BODY
try:
    found = attempt()
except (OSError, subprocess.SubprocessError, MemoryError, ValueError) as error:
    print("refused", repr(error))
else:
    print("ESCAPED" if found else "refused")
"""


class Attempt(NamedTuple):
    aim: str
    body: str
    containers: bool = True
    """Whether it means anything in a container, which has files of its own."""

    @property
    def source(self) -> str:
        lines = "\n".join(f"    {line}" for line in self.body.strip().splitlines())
        return PRELUDE.replace("NUMBERS", repr(CALLS)).replace("BODY", lines)


def _call(*arguments: str) -> str:
    return f"return call({', '.join(arguments)})"


ATTEMPTS = {
    # What is not its own to read.
    "host-file": Attempt("read a file of the host", "return bait['token'] in open(bait['file']).read()"),
    "shadow": Attempt("read the host's passwords", "return 'root:' in open('/etc/shadow').read()"),
    "home": Attempt("look into home folders", "return os.listdir('/root')", containers=False),
    "other-job": Attempt("read another job's files", "return os.listdir(bait['other'])"),
    "root-by-proc": Attempt(
        "reach the host's root through /proc", "return open(f\"/proc/{bait['agent']}/root{bait['file']}\")"
    ),
    "environment": Attempt(
        "read the agent's environment", "return b'HORAE_BAIT=' in read_all('/proc/[0-9]*/environ')"
    ),
    "memory": Attempt("read the agent's memory", "return open(f\"/proc/{bait['agent']}/mem\", 'rb')"),
    "memory-call": Attempt(
        "read another process's memory by call", _call("'process_vm_readv'", "bait['agent']", "0", "0", "0", "0", "0")
    ),
    "processes": Attempt(
        "see other processes", "return bait['token'].encode() in read_all('/proc/[0-9]*/cmdline')"
    ),
    "kernel-log": Attempt("read the kernel's log", _call("'syslog'", "10", "0", "0")),
    "devices": Attempt("read the machine by its devices", "return glob.glob('/dev/mem') + glob.glob('/dev/vd*')"),
    # What is not its own to write.
    "host-folder": Attempt("write outside its output", "open(bait['folder'] + '/planted', 'w'); return True"),
    "usr": Attempt("change programs", "os.mkdir('/usr/bin/horae'); os.rmdir('/usr/bin/horae'); return True"),
    "etc": Attempt("change settings", "os.mkdir('/etc/horae-bait'); os.rmdir('/etc/horae-bait'); return True"),
    "code": Attempt("change its own code", "return open(sys.argv[0], 'a')", containers=False),
    "params": Attempt("change its params", "return open(os.environ['HORAE_PARAMS'], 'a')"),
    "control-groups": Attempt(
        "lift its own limits",
        "return [f for f in glob.glob('/sys/fs/cgroup/**/memory*limit_in_bytes', recursive=True) "
        "+ glob.glob('/sys/fs/cgroup/**/memory.max', recursive=True) if os.access(f, os.W_OK)]",
    ),
    "kernel-settings": Attempt("change the kernel's settings", "return open('/proc/sys/kernel/core_pattern', 'r+')"),
    "execute": Attempt(
        "run a program that it has written",
        """
        for folder in (os.environ['HORAE_OUTPUT'], '/tmp', '/dev/shm'):
            try:
                file = shutil.copy(os.path.realpath(sys.executable), folder + '/program')
                if subprocess.run([file, '-c', ''], env=dict(os.environ, PYTHONHOME=sys.base_prefix)).returncode == 0:
                    return True
            except OSError:
                pass
        """,
    ),
    "map-executable": Attempt(
        "map a file that it has written as code",
        """
        with open('/tmp/code', 'wb+') as file:
            file.write(b'\\xc3' * 4096)
            file.flush()
            return mmap.mmap(file.fileno(), 4096, flags=mmap.MAP_PRIVATE, prot=mmap.PROT_READ | mmap.PROT_EXEC)
        """,
    ),
    # Other machines, other processes.
    "loopback": Attempt("reach the host's services", "return socket.create_connection(('127.0.0.1', bait['port']), 2)"),
    "unix-socket": Attempt(
        "reach a socket of the host",
        "end = socket.socket(socket.AF_UNIX); end.connect(bait['socket']); return True",
    ),
    "abstract-socket": Attempt(
        "reach a socket without a file",
        "end = socket.socket(socket.AF_UNIX); end.connect('\\0' + bait['token']); return True",
    ),
    "interfaces": Attempt(
        "find a way to the network", "return [name for _, name in socket.if_nameindex() if name != 'lo']"
    ),
    "packets": Attempt("listen to the network", "return socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 3)"),
    "virtual-sockets": Attempt("speak to the hypervisor", "return socket.socket(40, socket.SOCK_STREAM)"),
    "kill": Attempt("end another process", "os.kill(bait['victim'], 0); return True"),
    "trace": Attempt("trace another process", "return call('ptrace', 16, bait['victim'], 0, 0)"),
    "trace-me": Attempt("be traced", _call("'ptrace'", "0", "0", "0", "0")),
    # Bombs.
    "fork-bomb": Attempt(
        "start processes without end",
        """
        started = []
        try:
            for _ in range(200):
                pid = os.fork()
                if pid == 0:
                    time.sleep(60)
                    os._exit(0)
                started.append(pid)
        finally:
            for pid in started:
                os.kill(pid, signal.SIGKILL)
        return True
        """,
    ),
    "memory-bomb": Attempt("use memory without end", "return len(bytearray(b'x') * (700 * 2**20))"),
    "disk-bomb": Attempt(
        "fill the disk",
        """
        with open(os.environ['HORAE_OUTPUT'] + '/large', 'wb') as file:
            for _ in range(350):
                file.write(b'x' * 2**20)
        return True
        """,
    ),
    "hidden-disk-bomb": Attempt(
        "fill the disk with files that have no name",
        """
        held = []
        for number in range(7):
            file = open(f'/tmp/hidden{number}', 'wb')
            os.unlink(file.name)
            held.append(file)
            for _ in range(50):
                file.write(b'x' * 2**20)
            file.flush()
        return True
        """,
    ),
    "file-bomb": Attempt("open files without end", "held = [open('/proc/self/stat') for _ in range(900)]; return True"),
    # Calls by which programs get out.
    "mount": Attempt("mount", "return call('mount', b'none', b'/tmp', b'tmpfs', 0x1000 | 0x20, b'')"),
    "umount": Attempt("unmount", _call("'umount2'", "b'/nowhere'", "0")),
    "open-file-system": Attempt("mount by the newer calls", _call("'fsopen'", "b'tmpfs'", "0")),
    "open-tree": Attempt("take a mount by the newer calls", _call("'open_tree'", "-1", "b''", "0")),
    "move-mount": Attempt("move a mount", _call("'move_mount'", "-1", "b''", "-1", "b''", "0")),
    "namespaces": Attempt("make namespaces of its own", _call("'unshare'", "0x10000000")),
    "clone-namespaces": Attempt(
        "make a process in namespaces of its own",
        """
        ctypes.set_errno(0)
        number = CALLS['clone'][os.uname().machine == 'aarch64']
        pid = libc.syscall(ctypes.c_long(number), ctypes.c_long(0x20000 | 17), 0, 0, 0, 0)
        if pid == 0:
            os._exit(0)
        return pid > 0
        """,
    ),
    "enter-namespaces": Attempt("enter other namespaces", _call("'setns'", "-1", "0")),
    "pivot-root": Attempt("exchange its root", _call("'pivot_root'", "b'/nowhere'", "b'/nowhere'")),
    "chroot": Attempt("leave its root", _call("'chroot'", "b'/'")),
    "handles": Attempt("open files by handle", _call("'open_by_handle_at'", "-1", "0", "0")),
    "keys": Attempt("use the kernel's keys", _call("'keyctl'", "0", "-3", "1")),
    "bpf": Attempt("load programs into the kernel", _call("'bpf'", "0", "0", "0")),
    "io-uring": Attempt("use io_uring", _call("'io_uring_setup'", "1", "0")),
    "performance-events": Attempt("watch the processor", _call("'perf_event_open'", "0", "0", "-1", "-1", "0")),
    "page-faults": Attempt("handle page faults", _call("'userfaultfd'", "-1")),
    "swap": Attempt("add swap", _call("'swapon'", "0", "0")),
    "restart": Attempt("restart the machine", _call("'reboot'", "0", "0", "0", "0")),
    "quotas": Attempt("change quotas", _call("'quotactl'", "-1", "0", "0", "0")),
    "personality": Attempt("switch off address randomisation", _call("'personality'", "0x0040000")),
    "clock": Attempt("set the clock", _call("'settimeofday'", "0", "0")),
    "terminal": Attempt("type into a terminal", "return call('ioctl', 0, 0x5412, ctypes.create_string_buffer(b'x'))"),
    "device-nodes": Attempt(
        "make a device",
        "os.mknod(os.environ['HORAE_OUTPUT'] + '/device', 0o20666, os.makedev(1, 3)); return True",
    ),
    "capabilities": Attempt(
        "have capabilities",
        "return [line for line in open('/proc/self/status') if line.startswith('CapEff') and int(line.split()[1], 16)]",
    ),
    "privileges": Attempt(
        "gain privileges by a program with the bit for it",
        "return 'NoNewPrivs:\\t0' in open('/proc/self/status').read()",
    ),
    "root-user": Attempt("be root", "return os.getuid() == 0"),
}  # fmt: skip
