// Tests of the hardware table: context window and model size by graphics memory.
import assert from 'node:assert/strict';
import test from 'node:test';
import { estimateLocalModelCapacity, modelSizes } from './hardware.ts';

test('[P34] context by graphics memory: 128K from 24 GB, 32K from 16, 8K from 8, and a slightly lower reported size is rounded up', () => {
  const window = (graphics: number): number | undefined =>
    estimateLocalModelCapacity({ cores: 8, memory: 64, gpuMemory: graphics }).window;
  assert.deepEqual(
    [48, 24, 23.99, 22.5, 16, 15.7, 12, 8, 7.8].map(window),
    [131_072, 131_072, 131_072, 131_072, 32_768, 32_768, 8192, 8192, 8192],
  );
  assert.equal(window(4), undefined);
});

test('[P33, P75] the largest model that fits is returned, with a speed estimate; without a card it runs on the CPU, and slower', () => {
  const card = estimateLocalModelCapacity({ cores: 8, memory: 32, gpuMemory: 24 });
  assert.deepEqual([card.largestModel?.billions, card.device], [32, 'graphics card']);
  assert.match(card.benchmark ?? '', /RTX 4090: about 40 tokens a second/);
  const plain = estimateLocalModelCapacity({ cores: 2, memory: 16 });
  assert.deepEqual([plain.largestModel?.billions, plain.device, plain.window], [14, 'processor', undefined]);
  assert.equal(estimateLocalModelCapacity({ cores: 1, memory: 1 }).largestModel, undefined);
  assert.equal(
    estimateLocalModelCapacity({ cores: 8, memory: 64, gpuMemory: 1 }).device,
    'processor',
    'a card that is too small for any model is ignored',
  );
});

test('the sizes of the table increase, with their memory requirements', () => {
  for (const [i, size] of modelSizes.entries()) assert.ok(i === 0 || size.weights > (modelSizes[i - 1]?.weights ?? 0));
});
