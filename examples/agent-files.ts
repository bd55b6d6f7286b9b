// An agent in a Markdown file: the model starts it by name, and it has the tools of its file and no more. A scripted model answers, so that this runs anywhere.
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { codingAgent } from 'fairlead/coding-agent';
import { calls, says, scriptedProvider } from 'fairlead/testing';

const cwd = mkdtempSync(path.join(tmpdir(), 'fairlead-example-'));
const dirs = { stateDir: path.join(cwd, '.state'), configDir: path.join(cwd, '.config') };
mkdirSync(path.join(dirs.configDir, 'agents'), { recursive: true });
writeFileSync(
  path.join(dirs.configDir, 'agents/reviewer.md'),
  `---
name: reviewer
description: Reviews a change. Use it after code was written.
tools: Read, Grep
maxTurns: 5
---
You review the change that the task names.
`,
);

const toolsOfReviewer: string[] = [];
const model = scriptedProvider(({ body, tools, results }) => {
  if (body.system.includes('You review the change')) {
    toolsOfReviewer.push(...tools);
    return says('No defect.');
  }
  if (results.length === 0) return calls('load_tools', { names: ['spawn_agent'] });
  const input = { agent: 'reviewer', task: 'Review src/a.ts.' };
  return results.length === 1 ? calls('use_tool', { tool: 'spawn_agent', input }) : says('The reviewer found nothing.');
});

await using agent = await codingAgent({ ...dirs, cwd, model, approve: 'auto' });
const result = await agent.run('Have the change reviewed.');
console.log(result.text);

assert.equal(result.text, 'The reviewer found nothing.');
assert.deepEqual(toolsOfReviewer.toSorted(), ['grep', 'read_file']);
