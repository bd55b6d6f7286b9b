// The image and the fleet of containers: their descriptions are held to what they promise, and where there is an engine they are built and run.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { composeFaults, composeOf, dockerfileFaults } from './support/image-faults.ts';
import { root } from './support/packed.ts';
import { homeFor } from './support/program.ts';

const read = (file: string): string => readFileSync(path.join(root, file), 'utf8');

/** Each of these changes must be found. */
function mustBeFound(
  text: string,
  faults: (text: string) => readonly string[],
  broken: readonly (readonly [string, string, RegExp])[],
): void {
  assert.deepEqual(faults(text), []);
  for (const [from, to, told] of broken) {
    assert.ok(text.includes(from), from);
    assert.match(faults(text.replaceAll(from, to)).join('\n'), told, `${from} -> ${to}`);
  }
}

test('[P54] the Dockerfile has no fault that a linter or we know, and each of them would be found', () => {
  mustBeFound(read('Dockerfile'), dockerfileFaults, [
    ['USER node', 'USER root', /run by root/],
    ['USER node\n', '', /run by root/],
    ['NODE_ENV=production', 'NODE_ENV=production OPENAI_API_KEY=sk-1', /secret is built in/],
    ['ARG NODE_IMAGE=', 'ARG NPM_TOKEN\nARG NODE_IMAGE=', /secret is built in/],
    ['node:24-bookworm-slim', 'node', /no exact image/],
    [' AS system', '', /stages are/],
    ['npm ci --ignore-scripts', 'npm ci', /scripts of packages/],
    ['ENTRYPOINT ["fairlead"]', 'ENTRYPOINT fairlead', /shell stands before/],
    ['HEALTHCHECK --interval=15s', 'HEALTHCHECK --interval=15q', /15q|unit|duration/i],
    ['EXPOSE 8080', 'EXPOSE x', /Invalid containerPort/],
    ['RUN apt-get', 'RUNN apt-get', /Unknown instruction/],
  ]);
});

test('[P54] the compose file fits its schema, opens nothing, asks for its secrets, and names only what the program reads', () => {
  mustBeFound(read('compose.yaml'), composeFaults, [
    ['127.0.0.1:8080', '8080', /others can reach it/],
    [':?set it to a long random key', ':-', /may be empty/],
    ['${HARNESS_API_KEY:?set it to a long random key}', 'abc', /secret is written/],
    ['OLLAMA_API_URL', 'HARNESS_MODEL', /nobody reads HARNESS_MODEL/],
    ['postgres:17-alpine', 'postgres', /not named exactly/],
    ['read_only', 'read_olny', /additional properties/],
    ['internal: true', 'internal: false', /is open/],
    ['stop_grace_period: 30s', 'stop_grace_period: 5s', /time to end/],
    ['cap_drop: [ALL]', 'cap_drop: [NET_RAW]', /capabilities/],
    ['no-new-privileges:true', 'no-new-privileges:false', /may get rights/],
  ]);
});

test('[P54] the program understands the commands of the image and of each container', (t) => {
  const { services } = composeOf(read('compose.yaml'));
  const [, own = ''] = /^CMD (\[.*\])$/m.exec(read('Dockerfile')) ?? [];
  const commands = [
    ...Object.values(services).flatMap(({ command }) => (command ? [command] : [])),
    JSON.parse(own) as string[],
  ];
  assert.equal(commands.length, 3);
  const { fairlead } = homeFor(t);
  for (const command of commands) {
    const { status, stdout } = fairlead([...command, '--help']);
    assert.equal(status, 0, command.join(' '));
    assert.match(stdout, new RegExp(`^Usage: fairlead ${command[0]}`));
  }
});
