// A message type of your own: a value with a schema that is stored in the session, and that the model reads as text.
import assert from 'node:assert/strict';
import { Agent, messageType } from 'fairlead';
import { says, scriptedProvider } from 'fairlead/testing';

const agent = new Agent({ model: scriptedProvider([says('Restart db-1.')]) });
await using session = await agent.session();

const alert = messageType({
  name: 'alert',
  schema: {
    type: 'object',
    properties: { host: { type: 'string' }, load: { type: 'number' } },
    required: ['host', 'load'],
  },
  toText: ({ host, load }) => `The load of ${host} is ${load}.`,
});
await session.run(alert.create({ host: 'db-1', load: 9.5 })); // throws message/invalid if the value does not fit
const alerts = alert.read(session.messages); // typed, also after the session was opened again

assert.deepEqual(alerts, [{ host: 'db-1', load: 9.5 }]);
