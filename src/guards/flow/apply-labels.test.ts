// Tests of the labels that come with a result: they raise distrust and secrecy, whatever is declared of the tool.
import assert from 'node:assert/strict';
import test from 'node:test';
import { applyLabels } from './apply-labels.ts';

test('[A37] a label raises distrust and secrecy of a trusted tool, and lowers them only if the user trusts its origin', () => {
  const untrusted = applyLabels({ output: 'trusted' }, { integrity: 'untrusted', confidentiality: 'private' });
  assert.deepEqual(untrusted, { output: 'untrusted', private: true });
  const claimed = { integrity: 'trusted', confidentiality: 'public' } as const;
  assert.deepEqual(applyLabels({ output: 'untrusted', private: true }, claimed), {
    output: 'untrusted',
    private: true,
  });
  assert.equal(applyLabels({ output: 'untrusted', trustsLabels: true }, claimed).output, 'trusted');
});
