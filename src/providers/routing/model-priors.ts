// Prior knowledge about a model: default quality by size.
import { findFamily } from '../families.ts';
import type { ModelRef } from '../resolve.ts';

/** Parses billions of parameters from a name such as `qwen3:8b`. */
export function parseBillions(model: string): number | undefined {
  const found = /(?:^|[^a-z\d.])(\d+(?:\.\d+)?)b(?![a-z\d])/i.exec(model);
  return found ? Number(found[1]) : undefined;
}

/** Default quality by billions of parameters. */
const qualityBySize: readonly (readonly [billions: number, quality: number])[] = [
  [4, 0.3],
  [10, 0.45],
  [20, 0.55],
  [40, 0.7],
];

/** Default quality from 0 to 1: high for hosted models, by size for local ones. */
export function defaultQuality({ provider, model }: Exclude<ModelRef, string>): number {
  const family = findFamily(provider);
  if (!family?.local) return 0.95;
  if (family.protocol === 'embedded') return 0.15;
  const billions = parseBillions(model);
  if (billions === undefined) return 0.5;
  return qualityBySize.find(([maxBillions]) => billions < maxBillions)?.[1] ?? 0.8;
}
