// Starts commands in a virtual machine inside the namespaces of another launcher: the machine sees only the files that are mounted there, and has a kernel of its own.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { totalmem, tmpdir } from 'node:os';
import path from 'node:path';
import { withCommandSetup } from '../command-setup.ts';
import type { NamespaceLauncher } from '../namespace-sandbox.ts';
import type { MicrovmParts } from './find-microvm.ts';
import { createInitialFiles, exchangeFolder, ports, shareTag } from './initial-files.ts';

/** Where the kernel and the initial file system are inside the namespaces. */
const filesFolder = '/run/fairlead-vm';
const maxMemoryMb = 2048;

/** The exit code of a virtual machine that ended without the exit code of the command. */
export const noResultCode = 125;

const quote = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

/**
 * The wrapper around the runtime, outside of the virtual machine: hands over the command (`$1`), what changes to the user (`$2`) and the user (`$3`), starts the runtime (the rest), and ends with the exit code of the command.
 * What the runtime itself writes is shown only if there is no result.
 */
const wrapperScript = [
  `x=${exchangeFolder}; mkdir -p $x && export -p >$x/env && printf %s "$1" >$x/command && printf %s "$2" >$x/user && printf %s "$3" >$x/owner || exit ${noResultCode};`,
  'shift 3; { echo 1000 >/proc/self/oom_score_adj; ulimit -c 0; } 2>/dev/null;',
  // The runtime opens its output again by its path, which works with pipes only.
  '{ { "$@" 4>&1 3>&5 5>&- </dev/null >$x/log 2>&1 | cat >&2; } 5>&1 | cat; };',
  'code=; [ ! -s $x/code ] || read -r code <$x/code;',
  `if [ -z "$code" ]; then echo "The virtual machine ended without a result: $(tail -n 1 $x/log) $(tail -c 300 $x/console 2>/dev/null)" >&2; exit ${noResultCode}; fi;`,
  'exit "$code"',
].join(' ');

/** Returns the launcher. The files of the machine are created once, and removed when the process exits. */
export function microvmLauncher(inner: NamespaceLauncher, parts: MicrovmParts): NamespaceLauncher {
  const folder = mkdtempSync(path.join(tmpdir(), 'fairlead-vm-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  const initial = path.join(folder, 'initial');
  writeFileSync(initial, createInitialFiles(parts.programs, parts.modules), { mode: 0o600 });
  return {
    name: 'microvm',
    ...(parts.isHardware ? {} : { limitation: 'The processor of the virtual machine is emulated, which is slow.' }),
    setUp(command, check, cwd, user) {
      const argv = withCommandSetup(command, '');
      const inside = `cd ${quote(cwd)} && exec ${argv.map(quote).join(' ')}`;
      const { uid, gid } = user ?? { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };
      const asUser = `${parts.programs.get('setpriv')} --reuid ${uid} --regid ${gid} --clear-groups --no-new-privs --inh-caps=-all --bounding-set=-all`;
      return [
        '/bin/sh',
        '-c',
        `${check} ${wrapperScript}`,
        'sh',
        inside,
        asUser,
        `${uid}:${gid}`,
        parts.runtime,
        ...machineOptions(parts),
      ];
    },
    wrap(plan, cwd, argv) {
      const file = (source: string, name: string) =>
        ({ kind: 'bind', source, at: `${filesFolder}/${name}`, isReadOnly: true }) as const;
      const operations = [...plan.operations, file(parts.kernel, 'kernel'), file(initial, 'initial')];
      return inner.wrap({ ...plan, operations }, cwd, argv);
    },
  };
}

/** The options of the runtime: no devices but a console, three ports and the shared files; no network. */
export function machineOptions({
  architecture,
  isHardware,
}: Pick<MicrovmParts, 'architecture' | 'isHardware'>): readonly string[] {
  const accelerator = isHardware ? 'kvm' : 'tcg';
  const isArm = architecture === 'arm64';
  const memory = Math.min(maxMemoryMb, Math.floor(totalmem() / 2 ** 21));
  const port = (name: keyof typeof ports, file: string): readonly string[] => [
    '-chardev',
    `file,id=${name},path=${file}`,
    '-device',
    `virtserialport,chardev=${name},nr=${ports[name]}`,
  ];
  return [
    ['-nodefaults', '-no-user-config', '-no-reboot', '-display', 'none'],
    [
      '-machine',
      isArm ? `virt,accel=${accelerator}${isHardware ? ',gic-version=host' : ''}` : `q35,accel=${accelerator}`,
    ],
    ['-cpu', isHardware ? 'host' : isArm ? 'cortex-a72' : 'max'],
    ['-m', `${memory}M`, '-smp', isHardware ? '2' : '1'],
    ['-kernel', `${filesFolder}/kernel`, '-initrd', `${filesFolder}/initial`],
    ['-append', `console=${isArm ? 'ttyAMA0' : 'ttyS0'} quiet panic=-1 random.trust_cpu=on`],
    ['-chardev', `file,id=console,path=${exchangeFolder}/console`, '-serial', 'chardev:console'],
    ['-device', 'virtio-serial-pci'],
    port('out', '/dev/fd/3'),
    port('err', '/dev/fd/4'),
    port('code', `${exchangeFolder}/code`),
    ['-fsdev', 'local,id=files,path=/,security_model=none,multidevs=remap'],
    ['-device', `virtio-9p-pci,fsdev=files,mount_tag=${shareTag}`],
  ].flat();
}
