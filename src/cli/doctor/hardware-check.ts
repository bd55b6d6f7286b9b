// Which models this machine can run, by what can be read of it, and whether the one in use suits it.
import { readdirSync, readFileSync } from 'node:fs';
import { availableParallelism, totalmem } from 'node:os';
import path from 'node:path';
import { findFamily } from '../../providers/families.ts';
import {
  parseBillions,
  estimateLocalModelCapacity,
  minToolUseBillions,
  modelSizes,
  type LocalModelCapacity,
  type Hardware,
} from '../../providers/routing/index.ts';
import { ok, warn, type DoctorCheck, type CheckResult } from './check.ts';
import { readFirstLine } from './machine-checks.ts';

const gigabyte = 2 ** 30;

/** The check of the hardware. */
export const hardwareCheck: DoctorCheck = {
  name: 'local models',
  async run({ target, signal }) {
    const hardware = await readHardware(signal);
    const { model } = await target().catch(() => ({ model: undefined }));
    const local = model && findFamily(model.ref.provider)?.local ? model.ref.model : undefined;
    return judgeHardware(hardware, local, model?.router !== undefined);
  },
};

/** What this machine has. Without a driver that tells, a graphics card is not seen. */
export async function readHardware(signal: AbortSignal, drm = '/sys/class/drm'): Promise<Hardware> {
  const base = { cores: availableParallelism(), memory: totalmem() / gigabyte };
  // There the graphics card has the memory of the machine.
  if (process.platform === 'darwin' && process.arch === 'arm64')
    return { ...base, gpuMemory: base.memory * 0.75, gpuName: 'the memory that it shares' };
  const query = ['--query-gpu=memory.total,name', '--format=csv,noheader,nounits'];
  const told = /^(\d+), *(.+)$/.exec((await readFirstLine('nvidia-smi', query, signal)) ?? '');
  if (told) return { ...base, gpuMemory: Number(told[1]) / 1024, gpuName: told[2] ?? '' };
  const graphics = amdMemory(drm) / gigabyte;
  // A part of the processor shows a few hundred megabytes there, which hold no model.
  return graphics >= 2 ? { ...base, gpuMemory: graphics, gpuName: 'an AMD card' } : base;
}

/** Bytes of the largest AMD card, as its driver tells them. */
function amdMemory(drm: string): number {
  try {
    const cards = readdirSync(drm).filter((name) => /^card\d+$/.test(name));
    return Math.max(0, ...cards.map((card) => readNumberFile(path.join(drm, card, 'device/mem_info_vram_total'))));
  } catch {
    return 0;
  }
}

function readNumberFile(file: string): number {
  try {
    return Number(readFileSync(file, 'utf8').trim()) || 0;
  } catch {
    return 0;
  }
}

/** What can be run here, and how the local model in use stands to that. */
export function judgeHardware(hardware: Hardware, model: string | undefined, isRouted = false): CheckResult {
  const can = estimateLocalModelCapacity(hardware);
  const says = `${formatHardware(hardware)}: ${formatCapacity(can)}`;
  const billions = model === undefined ? undefined : parseBillions(model);
  const needs = billions === undefined ? undefined : modelSizes.find((size) => size.billions >= billions);
  if (billions !== undefined && needs && needs.billions > (can.largestModel?.billions ?? 0))
    return warn(
      `${says} ${model} is larger, and will be slow or not load.`,
      `Take ${can.largestModel ? `one such as ${can.largestModel.example}` : 'a hosted one'}, or one with weights of four bits (AWQ, Q4): half the memory at little loss.`,
    );
  if (billions !== undefined && billions < minToolUseBillions && !isRouted)
    return warn(
      `${says} ${model} is small for work with tools.`,
      `Take ${(can.largestModel?.billions ?? 0) >= minToolUseBillions ? `a larger one such as ${can.largestModel?.example}` : 'a hosted one for hard tasks'}; a router sends each task where it belongs: docs/routing.md.`,
    );
  return ok(says);
}

function formatHardware({ cores, memory, gpuMemory, gpuName }: Hardware): string {
  const plain = `${cores} cores, ${Math.round(memory)} GB`;
  return gpuMemory === undefined
    ? `${plain}, no graphics card found`
    : `${plain}, ${gpuName} with ${Math.round(gpuMemory)} GB`;
}

function formatCapacity({ largestModel, device, window, benchmark }: LocalModelCapacity): string {
  if (!largestModel) return 'no local model fits.';
  const room = window === undefined ? '' : `, context up to ${Math.round(window / 1024)}K`;
  const slow = device === 'processor' ? ' on the processor, slowly' : '';
  const measured = benchmark === undefined ? '' : ` To compare: ${benchmark}.`;
  return `models up to ${largestModel.billions}B (${largestModel.weights} GB, such as ${largestModel.example})${slow}${room}: ${largestModel.description}.${measured}`;
}
