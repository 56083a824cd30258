"""Where scripts run: bubblewrap with a seccomp filter, in a control group, with a box of limited size to write to.

`sandbox` puts it together: `bubblewrap` says what a job sees, `launcher` does what must be done before, `seccomp` has
the filter, `cgroups` the limits and the use, `supervisor` the process, `verdicts` what its end means, `box` what it
wrote. Containers use the last five as well.
"""
