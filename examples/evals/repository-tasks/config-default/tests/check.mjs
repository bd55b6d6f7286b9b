import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { loadConfig } from './config.mjs';

assert.deepEqual(loadConfig('missing.json'), { port: 8080 });
writeFileSync('own.json', '{"port": 9000}');
assert.deepEqual(loadConfig('own.json'), { port: 9000 });
writeFileSync('bad.json', 'port: 9000');
assert.throws(() => loadConfig('bad.json'));
