// A tool that posts to a Slack channel. Put it into custom_tools/ and set SLACK_BOT_TOKEN to a token with chat:write.
import type { CustomTool } from 'fairlead';

const tool: CustomTool = {
  name: 'slack_message',
  description: 'Post a message to a Slack channel.',
  inputSchema: {
    type: 'object',
    properties: {
      channel: { type: 'string', description: 'The name or id of a channel: #general.' },
      text: { type: 'string', minLength: 1, maxLength: 4000 },
    },
    required: ['channel', 'text'],
    additionalProperties: false,
  },
  effect: 'external',
  async execute({ channel, text }: { channel: string; text: string }, { workspace, signal }) {
    const token = process.env['SLACK_BOT_TOKEN'];
    if (!token) throw new Error('SLACK_BOT_TOKEN is not set.');
    const answer = await workspace.fetch?.(
      {
        url: `${process.env['SLACK_API_URL'] ?? 'https://slack.com/api'}/chat.postMessage`,
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json; charset=utf-8' },
        body: JSON.stringify({ channel, text }),
      },
      { signal },
    );
    if (!answer) throw new Error('The network is closed.');
    // Slack reports an error in the body, with status 200.
    const said = JSON.parse(Buffer.from(answer.body).toString()) as { ok: boolean; error?: string; ts?: string };
    if (!said.ok) throw new Error(`Slack refused the message: ${said.error ?? answer.status}.`);
    return `Posted to ${channel} at ${said.ts}.`;
  },
};

export default tool;
