"""What a container may ask of the kernel: the calls that ordinary programs make.

Engines have such a list too, but it differs between them and their versions, and theirs lets through some of what we
refuse everywhere. So containers get this one, less what scripts are refused, on every engine. Calls of either
architecture that the other does not have do no harm there.
"""

from typing import Final

_NAMES: Final = """
    access chdir chmod chown close close_range copy_file_range creat dup dup2 dup3 faccessat faccessat2 fadvise64
    fallocate fchdir fchmod fchmodat fchown fchownat fcntl fdatasync fgetxattr flistxattr flock fremovexattr fsetxattr
    fstat fstatfs fsync ftruncate futimesat getcwd getdents getdents64 getxattr lchown lgetxattr link linkat listxattr
    llistxattr lremovexattr lseek lsetxattr lstat mkdir mkdirat mknod mknodat newfstatat open openat openat2 pread64
    preadv preadv2 pwrite64 pwritev pwritev2 read readahead readlink readlinkat readv removexattr rename renameat
    renameat2 rmdir sendfile setxattr splice stat statfs statx symlink symlinkat sync sync_file_range syncfs tee
    truncate umask unlink unlinkat utime utimensat utimes write writev

    accept accept4 bind connect getpeername getsockname getsockopt listen recvfrom recvmmsg recvmsg sendmmsg sendmsg
    sendto setsockopt shutdown

    epoll_create epoll_create1 epoll_ctl epoll_pwait epoll_pwait2 epoll_wait eventfd eventfd2 inotify_add_watch
    inotify_init inotify_init1 inotify_rm_watch io_cancel io_destroy io_getevents io_setup io_submit pipe pipe2 poll
    ppoll pselect6 select signalfd signalfd4 timerfd_create timerfd_gettime timerfd_settime

    brk get_mempolicy madvise mbind membarrier memfd_create mincore mlock mlock2 mlockall mmap mprotect mremap msync
    munlock munlockall munmap pkey_alloc pkey_free pkey_mprotect remap_file_pages set_mempolicy

    arch_prctl capget capset execve execveat exit exit_group fork get_robust_list get_thread_area getcpu getegid geteuid
    getgid getgroups getpgid getpgrp getpid getppid getpriority getresgid getresuid getrlimit getrusage getsid gettid
    getuid ioprio_get ioprio_set kill pause pidfd_open pidfd_send_signal prctl prlimit64 process_mrelease
    restart_syscall rseq rt_sigaction rt_sigpending rt_sigprocmask rt_sigqueueinfo rt_sigreturn rt_sigsuspend
    rt_sigtimedwait rt_tgsigqueueinfo sched_get_priority_max sched_get_priority_min sched_getaffinity sched_getattr
    sched_getparam sched_getscheduler sched_rr_get_interval sched_setaffinity sched_setattr sched_setparam
    sched_setscheduler sched_yield set_robust_list set_thread_area set_tid_address setfsgid setfsuid setgid setgroups
    setpgid setpriority setregid setresgid setresuid setreuid setrlimit setsid setuid sigaltstack tgkill tkill vfork
    wait4 waitid

    alarm clock_getres clock_gettime clock_nanosleep getitimer gettimeofday nanosleep setitimer time timer_create
    timer_delete timer_getoverrun timer_gettime timer_settime times

    futex mq_getsetattr mq_notify mq_open mq_timedreceive mq_timedsend mq_unlink msgctl msgget msgrcv msgsnd semctl
    semget semop semtimedop shmat shmctl shmdt shmget

    getrandom landlock_add_rule landlock_create_ruleset landlock_restrict_self seccomp sysinfo uname
    """
ALLOWED: Final = frozenset(_NAMES.split())
