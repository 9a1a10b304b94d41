"""What a node would change for the whole machine, and writes to files of ours instead."""

# Below /proc/sys. The kubelet sets them when it starts.
GUARDED = (
    "kernel/keys/root_maxbytes",
    "kernel/keys/root_maxkeys",
    "kernel/panic",
    "kernel/panic_on_oops",
    "vm/overcommit_memory",
    "vm/panic_on_oom",
)
