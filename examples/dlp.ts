// Hides personal data from a cloud model: the model sees tokens, and the answer has the values again. Audit facts count what was found.
import assert from 'node:assert/strict';
import { Agent } from 'fairlead';
import { createDlpPolicy, createDlpProvider, parseDlpPolicy } from 'fairlead/guards/dlp';
import { scriptedProvider } from 'fairlead/testing';

const policy = createDlpPolicy(
  parseDlpPolicy(
    {
      kinds: { email: 'observe' },
      patterns: [{ name: 'customer number', pattern: 'KD-[0-9]{6}' }],
      values: { patient: 'Karla Blumfeld' },
    },
    { action: 'redact' },
  ),
);

// Stands for a cloud model that repeats the last word it was sent.
let seen = '';
const cloud = scriptedProvider((asked) => {
  seen = JSON.stringify(asked);
  return `It is ${/PRIVATE_IBAN\w+/.exec(seen)?.[0] ?? 'unknown'}.`;
});

const agent = new Agent({ model: createDlpProvider(cloud, { policy, to: 'cloud' }) });
await using session = await agent.session();
const { text } = await session.run('Karla Blumfeld (KD-123456) has the IBAN DE89 3704 0044 0532 0130 00. Which is it?');

console.log(text);
assert.equal(text, 'It is DE89 3704 0044 0532 0130 00.');
assert.doesNotMatch(seen, /Blumfeld|KD-123456|0532/);

for await (const events of session.log.read())
  for (const event of events)
    if (event.type === 'annotation-added' && event.key === 'dlp') console.log(JSON.stringify(event.value));
