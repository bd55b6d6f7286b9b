// Finds what a virtual machine for commands needs on this machine: a processor that can, a runtime, a kernel with its modules, and a few programs.
import { accessSync, constants, existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { formatInstallCommand } from '../namespace-obstacle.ts';
import type { MicrovmOptions, SandboxPaths } from '../sandbox.ts';
import { findTrustedProgram, findTrustedSystemProgram } from '../trusted-program.ts';
import { initialPrograms } from './initial-files.ts';
import { findKernelModules, type KernelModule } from './kernel-modules.ts';

/** What a virtual machine is started from. */
export type MicrovmParts = {
  readonly runtime: string;
  readonly architecture: 'arm64' | 'x64';
  /** False emulates the processor: slow, and for tests. */
  readonly isHardware: boolean;
  readonly kernel: string;
  readonly modules: readonly KernelModule[];
  /** The programs of the initial file system, by name. */
  readonly programs: ReadonlyMap<string, string>;
};

/** Why there is none, and what enables it; both complete a sentence. */
export type MicrovmObstacle = { readonly why: string; readonly remedy: string };

const runtimes = {
  arm64: ['qemu-system-aarch64', 'qemu-system-arm'],
  x64: ['qemu-system-x86_64', 'qemu-system-x86'],
} as const;

const kvm = '/dev/kvm';

const isReadable = (file: string, mode: number = constants.R_OK): boolean => {
  try {
    accessSync(file, mode);
    return true;
  } catch {
    return false;
  }
};

/** Finds the parts of a virtual machine, or the first obstacle. */
export function findMicrovm(
  paths: Pick<SandboxPaths, 'roots' | 'path' | 'egress'>,
  { kernel: given, emulation = false }: MicrovmOptions = {},
): MicrovmParts | MicrovmObstacle {
  const architecture = process.arch;
  if (process.platform !== 'linux') return { why: 'a microVM needs Linux', remedy: 'Choose another sandbox' };
  if (architecture !== 'arm64' && architecture !== 'x64')
    return { why: `there is no microVM for ${architecture}`, remedy: 'Choose another sandbox' };
  if (paths.egress)
    return {
      why: 'hosts are allowed (sandbox.hosts), and a microVM has no network',
      remedy: 'Allow no hosts, or choose another sandbox',
    };
  if (!emulation && !existsSync(kvm))
    return {
      why: `there is no ${kvm}, so this machine cannot run virtual machines`,
      remedy: 'Turn virtualization on, or choose another sandbox',
    };
  if (!emulation && !isReadable(kvm, constants.R_OK | constants.W_OK))
    return { why: `you may not use ${kvm}`, remedy: 'Add your user to the group kvm' };
  const [program, packageName] = runtimes[architecture];
  const runtime = findTrustedProgram(program, paths);
  if (runtime === undefined)
    return {
      why: `${program}, the runtime of the microVM, is not installed`,
      remedy: `Install QEMU (${formatInstallCommand(packageName, paths.path)})`,
    };
  const programs = new Map<string, string>();
  for (const name of [...initialPrograms, 'setpriv', 'ldd']) {
    const found = findTrustedSystemProgram(name, paths);
    if (found === undefined)
      return { why: `${name}, which a microVM needs, is not installed`, remedy: `Install ${name}` };
    programs.set(name, found);
  }
  const kernel = findKernel(given);
  if ('why' in kernel) return kernel;
  return { runtime, architecture, isHardware: !emulation, ...kernel, programs };
}

/** Finds a kernel image whose modules are beside it, in `lib/modules` of the folder above: the given one, or the newest of `/boot`. */
function findKernel(given: string | undefined): Pick<MicrovmParts, 'kernel' | 'modules'> | MicrovmObstacle {
  const remedy =
    'Install a kernel of your distribution with the module 9p, or name one: fairlead config set sandbox.kernel <file>';
  const kernels = given === undefined ? listKernels('/boot') : [given];
  if (kernels.length === 0) return { why: 'there is no kernel image in /boot', remedy };
  let why = '';
  for (const kernel of kernels) {
    const version = path.basename(kernel).replace(/^[^-]*-/, '');
    const modules = findKernelModules(path.resolve(path.dirname(kernel), '../lib/modules', version));
    if (!isReadable(kernel)) why ||= `the kernel image ${kernel} cannot be read`;
    else if (typeof modules === 'string') why ||= modules;
    else return { kernel, modules };
  }
  return { why, remedy };
}

const listKernels = (folder: string): readonly string[] =>
  (existsSync(folder) ? readdirSync(folder) : [])
    .filter((name) => /^(?:vmlinuz|Image)-./.test(name))
    .toSorted((a, b) => b.localeCompare(a, 'en', { numeric: true }))
    .map((name) => path.join(folder, name));
