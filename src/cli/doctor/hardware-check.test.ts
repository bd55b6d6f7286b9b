// Tests the doctor's advice about local models with made-up hardware.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test from 'node:test';
import { writeFiles } from '../../../test/support/program-dirs.ts';
import { readHardware, judgeHardware } from './hardware-check.ts';

test('[P33, P34, P49] the report shows the largest model, its context window, and a benchmark to compare with', () => {
  const { status, message } = judgeHardware({ cores: 16, memory: 64, gpuMemory: 24, gpuName: 'RTX 4090' }, undefined);
  assert.equal(status, 'ok');
  assert.match(
    message,
    /16 cores, 64 GB, RTX 4090 with 24 GB: models up to 32B \(20\.2 GB, such as qwen3:32b\), context up to 128K/,
  );
  assert.match(message, /a 27B model on an RTX 4090: about 40 tokens a second/);
  assert.match(
    judgeHardware({ cores: 2, memory: 1 }, undefined).message,
    /no graphics card found: no local model fits/,
  );
});

test('[P49, P75] a model that is too large for the machine, or too small for work with tools, is a warning with a fix', () => {
  const large = judgeHardware({ cores: 8, memory: 16, gpuMemory: 8, gpuName: 'a card' }, 'qwen3:32b');
  assert.equal(large.status, 'warn');
  assert.match(
    `${large.message} ${large.fix}`,
    /qwen3:32b is larger.*a model such as qwen3:8b, or one with 4-bit weights \(AWQ, Q4\): .*38% more tokens a second, less than 2% loss of quality/,
  );
  const small = judgeHardware({ cores: 8, memory: 64, gpuMemory: 24, gpuName: 'a card' }, 'qwen3:8b');
  assert.match(
    `${small.status} ${small.fix}`,
    /warn Use a larger model such as qwen3:32b; a router selects a model for each task .*4-bit weights \(AWQ.*adapter that was fine-tuned for your domain/,
  );
  assert.match(judgeHardware({ cores: 8, memory: 16 }, 'qwen3:8b').fix ?? '', /a hosted model for hard tasks/);
  assert.equal(judgeHardware({ cores: 8, memory: 16 }, 'qwen3:8b', true).status, 'ok', 'it is listed under the router');
  assert.equal(judgeHardware({ cores: 8, memory: 64, gpuMemory: 24, gpuName: 'a card' }, 'qwen3:32b').status, 'ok');
});

test(
  'the memory of an AMD card is read from its driver; a card with too little memory for a model is not listed',
  { skip: process.platform !== 'linux' },
  async (t) => {
    const drm = mkdtempSync(path.join(tmpdir(), 'fairlead-drm-'));
    t.after(() => rmSync(drm, { recursive: true }));
    // On a machine with an NVIDIA card, nvidia-smi is queried first.
    const before = process.env['PATH'];
    process.env['PATH'] = drm;
    t.after(() => (process.env['PATH'] = before));
    const { signal } = new AbortController();
    assert.equal((await readHardware(signal, path.join(drm, 'missing'))).gpuMemory, undefined);
    writeFiles(drm, {
      'card0/device/mem_info_vram_total': `${512 * 2 ** 20}\n`,
      'card0-HDMI/device/mem_info_vram_total': '99999999999\n',
    });
    assert.equal((await readHardware(signal, drm)).gpuMemory, undefined);
    writeFiles(drm, { 'card1/device/mem_info_vram_total': `${16 * 2 ** 30}\n` });
    assert.equal((await readHardware(signal, drm)).gpuMemory, 16);
  },
);
