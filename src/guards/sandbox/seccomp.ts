// A seccomp filter: the kernel refuses system calls that builds, tests and scripts do not need, and calls that bypass the namespaces of a sandbox.
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

/** Numbers of a CPU architecture: its audit id and its system calls. */
type SyscallTable = {
  readonly auditArch: number;
  /** The call that loads a filter. */
  readonly prctl: number;
  readonly ioctl: number;
  readonly socket: number;
  readonly socketpair: number;
  readonly denied: readonly number[];
  /** Calls that set the mode of a file, with the index of the mode: chmod, fchmod, fchmodat, fchmodat2, creat, mknod, mknodat. */
  readonly setMode: readonly (readonly [call: number, index: number])[];
  /** Calls that set the mode of a file only if they create it, with the index of their flags, which the mode follows: open, openat. */
  readonly openFile: readonly (readonly [call: number, index: number])[];
  /** Numbers from here on belong to another ABI, which would bypass the list. */
  readonly foreignAbiStart?: number;
};

/** The new mount calls and io_uring have the same number on every architecture. */
const commonSyscalls = [425, 426, 427, 428, 429, 430, 431, 432, 433, 442];

const parseNumbers = (text: string): readonly number[] => text.split(' ').map(Number);

const syscallTables: Partial<Record<NodeJS.Architecture, SyscallTable>> = {
  x64: {
    auditArch: 0xc000003e,
    prctl: 157,
    ioctl: 16,
    socket: 41,
    socketpair: 53,
    // add_key request_key keyctl, bpf perf_event_open userfaultfd, mount umount2 pivot_root chroot, unshare setns,
    // kexec_load kexec_file_load init_module finit_module delete_module, acct swapon swapoff reboot quotactl, name_to_handle_at open_by_handle_at, syslog
    denied: parseNumbers(
      '248 249 250 321 298 323 165 166 155 161 272 308 246 320 175 313 176 163 167 168 169 179 303 304 103',
    ),
    setMode: [
      [90, 1],
      [91, 1],
      [268, 2],
      [452, 2],
      [85, 1],
      [133, 1],
      [259, 2],
    ],
    openFile: [
      [2, 1],
      [257, 2],
    ],
    foreignAbiStart: 0x4000_0000,
  },
  arm64: {
    auditArch: 0xc00000b7,
    prctl: 167,
    ioctl: 29,
    socket: 198,
    socketpair: 199,
    denied: parseNumbers(
      '217 218 219 280 241 282 40 39 41 51 97 268 104 294 105 273 106 89 224 225 142 60 264 265 116',
    ),
    setMode: [
      [52, 1],
      [53, 2],
      [452, 2],
      [33, 2],
    ],
    openFile: [[56, 2]],
  },
};

const [load, jumpIfEqual, atLeast, jumpIfSet, returnValue] = [0x20, 0x15, 0x35, 0x45, 0x06];
const allow = 0x7fff_0000;
/** Returns EPERM. */
const denyWithEperm = 0x0005_0001;
/** Returns ENOSYS, so that programs use an older call. */
const denyWithEnosys = 0x0005_0026;
/** Has its mode in memory, which a filter cannot read. */
const openat2 = 437;
/** The set-user-id and set-group-id bits of a mode, with which a program would run with the rights of the user outside the sandbox. */
const setIdBits = 0o6000;
/** O_CREAT, and the bit that O_TMPFILE adds to O_DIRECTORY. */
const createFlags = 0o100 | 0o20_000_000;
/** Terminal input injection (TIOCSTI), and the console (TIOCLINUX). */
const terminalInputIoctls = [0x5412, 0x541c];
/** The socket families that programs need, each confined by a namespace: AF_UNIX, AF_INET, AF_INET6 and AF_NETLINK. All others expose more of the kernel or of the host. */
const allowedSocketFamilies = [1, 2, 10, 16];

type BpfInstruction = readonly [code: number, yes: number, no: number, value: number];

/** Returns the filter as a BPF program; undefined for an architecture with unknown numbers. */
export function seccompFilter(arch: NodeJS.Architecture): Buffer | undefined {
  const table = syscallTables[arch];
  if (!table) return undefined;
  const { auditArch, ioctl, socket, socketpair, denied, foreignAbiStart } = table;
  const line = (code: number, value: number, yes = 0, no = 0): BpfInstruction => [code, yes, no, value];
  /** If the call has this number, its argument must not be one of these values; otherwise the next instructions are skipped. */
  const argument = (call: number, index: number, values: readonly number[]): readonly BpfInstruction[] => [
    line(jumpIfEqual, call, 0, 1 + 2 * values.length + 1),
    line(load, 16 + 8 * index),
    ...values.flatMap((value) => [line(jumpIfEqual, value, 0, 1), line(returnValue, denyWithEperm)]),
    line(returnValue, allow),
  ];
  /** If the call has this number, its argument must be one of these values; otherwise the next instructions are skipped. */
  const onlyArgument = (call: number, index: number, values: readonly number[]): readonly BpfInstruction[] => [
    line(jumpIfEqual, call, 0, 1 + 2 * values.length + 1),
    line(load, 16 + 8 * index),
    ...values.flatMap((value) => [line(jumpIfEqual, value, 0, 1), line(returnValue, allow)]),
    line(returnValue, denyWithEperm),
  ];
  /** If the call has this number, the mode in its argument must have no set-id bit; otherwise the next instructions are skipped. */
  const plainMode = (call: number, index: number): readonly BpfInstruction[] => [
    line(jumpIfEqual, call, 0, 4),
    line(load, 16 + 8 * index),
    line(jumpIfSet, setIdBits, 0, 1),
    line(returnValue, denyWithEperm),
    line(returnValue, allow),
  ];
  /** The same for a call whose mode counts only with flags that create a file. */
  const plainModeIfCreated = (call: number, index: number): readonly BpfInstruction[] => [
    line(jumpIfEqual, call, 0, 6),
    line(load, 16 + 8 * index),
    line(jumpIfSet, createFlags, 0, 3),
    line(load, 16 + 8 * (index + 1)),
    line(jumpIfSet, setIdBits, 0, 1),
    line(returnValue, denyWithEperm),
    line(returnValue, allow),
  ];
  const lines: readonly BpfInstruction[] = [
    line(load, 4),
    line(jumpIfEqual, auditArch, 1, 0),
    line(returnValue, denyWithEperm),
    line(load, 0),
    ...(foreignAbiStart === undefined ? [] : [line(atLeast, foreignAbiStart, 0, 1), line(returnValue, denyWithEperm)]),
    ...[...denied, ...commonSyscalls].flatMap((call) => [
      line(jumpIfEqual, call, 0, 1),
      line(returnValue, denyWithEperm),
    ]),
    line(jumpIfEqual, openat2, 0, 1),
    line(returnValue, denyWithEnosys),
    ...table.openFile.flatMap(([call, index]) => plainModeIfCreated(call, index)),
    ...table.setMode.flatMap(([call, index]) => plainMode(call, index)),
    ...argument(ioctl, 1, terminalInputIoctls),
    ...onlyArgument(socket, 0, allowedSocketFamilies),
    ...onlyArgument(socketpair, 0, allowedSocketFamilies),
    line(returnValue, allow),
  ];
  return Buffer.concat(lines.map(encodeInstruction));
}

function encodeInstruction([code, yes, no, value]: BpfInstruction): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeUInt16LE(code, 0);
  bytes.writeUInt8(yes, 2);
  bytes.writeUInt8(no, 3);
  bytes.writeUInt32LE(value, 4);
  return bytes;
}

/** Returns the number of the system call that loads a filter; undefined for an architecture with unknown numbers. */
export const prctlNumber = (arch: NodeJS.Architecture): number | undefined => syscallTables[arch]?.prctl;

let cachedFilterFile: string | undefined;

/** Returns a file with the filter for this machine, readable by the own user only and removed at exit; undefined if there is no filter. */
export function seccompFilterFile(): string | undefined {
  if (cachedFilterFile !== undefined && existsSync(cachedFilterFile)) return cachedFilterFile;
  const filter = seccompFilter(process.arch);
  if (!filter) return undefined;
  const folder = mkdtempSync(path.join(tmpdir(), 'fairlead-filter-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  cachedFilterFile = path.join(folder, 'filter');
  writeFileSync(cachedFilterFile, filter, { flag: 'wx', mode: 0o400 });
  return cachedFilterFile;
}
