// The initial file system of a virtual machine: a few programs of this machine with their libraries, the modules of the kernel, and the script that starts the command.
import { execFileSync } from 'node:child_process';
import { readFileSync, realpathSync } from 'node:fs';
import path from 'node:path';
import { createArchive, type ArchiveEntry } from './cpio.ts';
import type { KernelModule } from './kernel-modules.ts';

/** The programs that the script uses before the files of this machine are there. */
export const initialPrograms = ['sh', 'mount', 'insmod', 'chroot', 'cat', 'mkdir', 'ln', 'chown'] as const;

/** Where the wrapper outside and the script inside exchange the command, its variables and its exit code. Inside, it is covered before the command starts. */
export const exchangeFolder = '/dev/shm/vm';

/** The tag of the shared file system. */
export const shareTag = 'host';

/** The numbers of the ports: standard output, standard error, and the exit code. */
export const ports = { out: 1, err: 2, code: 3 } as const;

/**
 * The first process. Output goes through pipes, as everywhere else: a port cannot be opened twice. When the command has ended, its processes are killed, so that the pipes end.
 * Variables of the user are read before its own are set. The script stops at the first command that fails; the kernel then stops, and the machine with it.
 */
const initScript = `#!/bin/sh
set -e
export PATH=/bin
mount -t proc proc /proc
mount -t devtmpfs dev /dev
for vm_module in /modules/*; do [ ! -f "$vm_module" ] || insmod "$vm_module"; done
mount -t 9p -o trans=virtio,version=9p2000.L,msize=262144,cache=none,access=any ${shareTag} /host
set -a
. /host${exchangeFolder}/env
set +a
vm_command=$(/bin/cat /host${exchangeFolder}/command)
vm_user=$(/bin/cat /host${exchangeFolder}/user)
vm_owner=$(/bin/cat /host${exchangeFolder}/owner)
/bin/mount -t proc proc /host/proc
/bin/mount -t devtmpfs dev /host/dev
/bin/mkdir -p /host/dev/pts /host/dev/shm
/bin/mount -t devpts -o mode=620,ptmxmode=666 devpts /host/dev/pts
/bin/mount -t tmpfs -o mode=1777,nosuid,nodev tmpfs /host/dev/shm
for vm_link in fd: stdin:/0 stdout:/1 stderr:/2; do /bin/ln -sf /proc/self/fd\${vm_link#*:} /host/dev/\${vm_link%%:*}; done
set +e
{ { { /bin/chown $vm_owner /proc/self/fd/1 /proc/self/fd/4
/bin/chroot /host $vm_user /bin/sh -c "$vm_command" </dev/null 2>&4 4>&-
echo $? >/code
/bin/chroot /host $vm_user /bin/sh -c 'kill -9 -1' 2>/dev/null 4>&-
} | /bin/cat >/dev/vport0p${ports.out}; } 4>&1; } | /bin/cat >/dev/vport0p${ports.err}
/bin/cat /code >/dev/vport0p${ports.code}
echo b >/proc/sysrq-trigger
while :; do :; done
`;

/** Returns the libraries that a program loads, by their paths; none for a static program. */
function findLibraries(ldd: string, program: string): readonly string[] {
  try {
    const listed = execFileSync(ldd, [program], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
    return listed.split('\n').flatMap((line) => /(?:=>\s*|^\s*)(\/\S+)\s+\(0x/.exec(line)?.[1] ?? []);
  } catch {
    return [];
  }
}

/** Creates the archive of the initial file system from programs of this machine, by name and path. */
export function createInitialFiles(programs: ReadonlyMap<string, string>, modules: readonly KernelModule[]): Buffer {
  const files = new Map<string, ArchiveEntry>();
  const add = (at: string, content: Buffer, isExecutable = true): void =>
    void files.set(at, { type: 'file', path: at, content, isExecutable });
  for (const name of initialPrograms) {
    const program = programs.get(name) ?? '';
    add(`/bin/${name}`, readFileSync(program));
    for (const library of findLibraries(programs.get('ldd') ?? '', program))
      if (!files.has(library)) add(library, readFileSync(realpathSync(library)));
  }
  for (const [i, { name, content }] of modules.entries())
    add(`/modules/${String(i).padStart(2, '0')}-${name}.ko`, content, false);
  add('/init', Buffer.from(initScript));
  const folders = new Set(['/proc', '/dev', '/host', '/modules']);
  for (const at of files.keys())
    for (let folder = path.dirname(at); folder !== '/'; folder = path.dirname(folder)) folders.add(folder);
  return createArchive([
    ...[...folders].toSorted((a, b) => a.length - b.length).map((at) => ({ type: 'folder', path: at }) as const),
    { type: 'console', path: '/dev/console' },
    ...files.values(),
  ]);
}
