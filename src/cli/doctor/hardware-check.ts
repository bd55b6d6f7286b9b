// Checks which local models this machine can run, and whether the model in use fits.
import { maxOf } from '../../core/index.ts';
import { readdirSync, readFileSync } from 'node:fs';
import { availableParallelism, totalmem } from 'node:os';
import path from 'node:path';
import { findFamily } from '../../providers/index.ts';
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

/** Checks the hardware for local models. */
export const hardwareCheck: DoctorCheck = {
  name: 'local models',
  async run({ target, signal }) {
    const hardware = await readHardware(signal);
    const { model } = await target().catch(() => ({ model: undefined }));
    const local = model && findFamily(model.ref.provider)?.local ? model.ref.model : undefined;
    return judgeHardware(hardware, local, model?.router !== undefined);
  },
};

/** Reads the hardware of this machine. A graphics card without a known driver is not found. */
export async function readHardware(signal: AbortSignal, drm = '/sys/class/drm'): Promise<Hardware> {
  const base = { cores: availableParallelism(), memory: totalmem() / gigabyte };
  // On Apple silicon the GPU uses the memory of the machine.
  if (process.platform === 'darwin' && process.arch === 'arm64')
    return { ...base, gpuMemory: base.memory * 0.75, gpuName: 'shared GPU memory' };
  const query = ['--query-gpu=memory.total,name', '--format=csv,noheader,nounits'];
  const nvidia = /^(\d+), *(.+)$/.exec((await readFirstLine('nvidia-smi', query, signal)) ?? '');
  if (nvidia) return { ...base, gpuMemory: Number(nvidia[1]) / 1024, gpuName: nvidia[2] ?? '' };
  const amd = amdMemory(drm) / gigabyte;
  // An integrated GPU reports a few hundred megabytes, which hold no model.
  return amd >= 2 ? { ...base, gpuMemory: amd, gpuName: 'an AMD card' } : base;
}

/** Returns the memory of the largest AMD card in bytes, as its driver reports it. */
function amdMemory(drm: string): number {
  try {
    const cards = readdirSync(drm).filter((name) => /^card\d+$/.test(name));
    return maxOf(
      cards.map((card) => readNumberFile(path.join(drm, card, 'device/mem_info_vram_total'))),
      0,
    );
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

/** Published figures of AWQ against 16-bit weights. */
const quantizationFigures = 'a quarter of the memory, about 38% more tokens a second, less than 2% loss of quality';

/** Judges which models this machine can run, and whether the local model in use fits. */
export function judgeHardware(hardware: Hardware, model: string | undefined, isRouted = false): CheckResult {
  const capacity = estimateLocalModelCapacity(hardware);
  const summary = `${formatHardware(hardware)}: ${formatCapacity(capacity)}`;
  const billions = model === undefined ? undefined : parseBillions(model);
  const needs = billions === undefined ? undefined : modelSizes.find((size) => size.billions >= billions);
  if (billions !== undefined && needs && needs.billions > (capacity.largestModel?.billions ?? 0))
    return warn(
      `${summary} ${model} is larger, and will be slow or not load.`,
      `Use ${capacity.largestModel ? `a model such as ${capacity.largestModel.example}` : 'a hosted model'}, or one with 4-bit weights (AWQ, Q4): ${quantizationFigures}.`,
    );
  if (billions !== undefined && billions < minToolUseBillions && !isRouted)
    return warn(
      `${summary} ${model} is small for work with tools.`,
      `Use ${(capacity.largestModel?.billions ?? 0) >= minToolUseBillions ? `a larger model such as ${capacity.largestModel?.example}` : 'a hosted model for hard tasks'}; a router selects a model for each task (docs/routing.md). A larger model with 4-bit weights (AWQ, Q4: ${quantizationFigures}) or an adapter that was fine-tuned for your domain (ADAPTER in a Modelfile of Ollama, --lora-modules of vLLM) also helps.`,
    );
  return ok(summary);
}

function formatHardware({ cores, memory, gpuMemory, gpuName }: Hardware): string {
  const base = `${cores} cores, ${Math.round(memory)} GB`;
  return gpuMemory === undefined
    ? `${base}, no graphics card found`
    : `${base}, ${gpuName} with ${Math.round(gpuMemory)} GB`;
}

function formatCapacity({ largestModel, device, window, benchmark }: LocalModelCapacity): string {
  if (!largestModel) return 'no local model fits.';
  const context = window === undefined ? '' : `, context up to ${Math.round(window / 1024)}K`;
  const onCpu = device === 'processor' ? ' on the CPU, slowly' : '';
  const reference = benchmark === undefined ? '' : ` To compare: ${benchmark}.`;
  return `models up to ${largestModel.billions}B (${largestModel.weights} GB, such as ${largestModel.example})${onCpu}${context}: ${largestModel.description}.${reference}`;
}
