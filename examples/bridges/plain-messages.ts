// Applies rules to plain messages, without a client or a framework: messages in, messages and decisions out.
import assert from 'node:assert/strict';
import { guardMessages } from 'fairlead/bridges';
import { confirm, compileRuleSet } from 'fairlead/rules';

const rules = compileRuleSet({ name: 'project-rules', gates: [confirm({ which: ['delete_file'] })] });

const messages = [
  { role: 'user', content: 'Clean up.' },
  {
    role: 'assistant',
    content: null,
    tool_calls: [{ id: 'a', type: 'function', function: { name: 'delete_file', arguments: '{"path":"a.txt"}' } }],
  },
];
const { decisions } = await guardMessages(messages, rules);

// Answer a denied call with the reason instead of executing it, and continue.
assert.equal(decisions[0]?.type, 'refused');
console.log(decisions[0]);
