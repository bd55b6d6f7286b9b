// A tool that posts to a Slack channel, as a class. Put it into custom_tools/ and set SLACK_BOT_TOKEN to a token with chat:write.
import type { CustomToolContext } from 'fairlead';

type SlackMessage = { channel: string; message: string };

export class SlackTool {
  readonly name: string = 'send_slack_message';
  readonly description: string = 'Send a message to a Slack channel.';
  readonly effect: string = 'external';
  readonly schema: object = {
    type: 'object',
    properties: {
      channel: { type: 'string', description: 'Slack channel id or name, such as #general.' },
      message: { type: 'string', minLength: 1, maxLength: 4000, description: 'Message to send.' },
    },
    required: ['channel', 'message'],
    additionalProperties: false,
  };

  async execute({ channel, message }: SlackMessage, { workspace, signal }: CustomToolContext): Promise<string> {
    const token = process.env['SLACK_BOT_TOKEN'];
    if (!token) throw new Error('SLACK_BOT_TOKEN is not set.');
    const response = await workspace.fetch?.(
      {
        url: `${process.env['SLACK_API_URL'] ?? 'https://slack.com/api'}/chat.postMessage`,
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json; charset=utf-8' },
        body: JSON.stringify({ channel, text: message }),
      },
      { signal },
    );
    if (!response) throw new Error('The network is closed.');
    // Slack reports an error in the body, with status 200.
    const result = JSON.parse(Buffer.from(response.body).toString()) as { ok: boolean; error?: string; ts?: string };
    if (!result.ok) throw new Error(`Slack refused the message: ${result.error ?? response.status}.`);
    return `Message sent to ${channel} (ts=${result.ts}).`;
  }
}
