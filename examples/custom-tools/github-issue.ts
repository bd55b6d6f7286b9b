// A tool that opens an issue on GitHub, as an object. Put it into custom_tools/ and set GITHUB_TOKEN to a token that may write issues.
import type { CustomTool } from 'fairlead';

type Issue = { repository: string; title: string; body?: string; labels?: string[] };

const tool: CustomTool = {
  name: 'create_github_issue',
  description: 'Open an issue in a GitHub repository.',
  inputSchema: {
    type: 'object',
    properties: {
      repository: { type: 'string', pattern: '^[\\w-][\\w.-]*/[\\w-][\\w.-]*$', description: 'owner/name' },
      title: { type: 'string', minLength: 1, maxLength: 256 },
      body: { type: 'string', maxLength: 60_000 },
      labels: { type: 'array', items: { type: 'string' }, maxItems: 20 },
    },
    required: ['repository', 'title'],
    additionalProperties: false,
  },
  effect: 'external',
  async execute({ repository, ...issue }: Issue, { workspace, signal }) {
    const token = process.env['GITHUB_TOKEN'];
    if (!token) throw new Error('GITHUB_TOKEN is not set.');
    const answer = await workspace.fetch?.(
      {
        url: `${process.env['GITHUB_API_URL'] ?? 'https://api.github.com'}/repos/${repository}/issues`,
        method: 'POST',
        headers: {
          accept: 'application/vnd.github+json',
          authorization: `Bearer ${token}`,
          'content-type': 'application/json',
          'x-github-api-version': '2022-11-28',
        },
        body: JSON.stringify(issue),
      },
      { signal },
    );
    if (!answer) throw new Error('The network is closed.');
    const said = JSON.parse(Buffer.from(answer.body).toString()) as {
      message?: string;
      number?: number;
      html_url?: string;
    };
    if (answer.status !== 201) throw new Error(`GitHub refused the issue (${answer.status}): ${said.message ?? ''}`);
    return `Opened issue ${said.number}: ${said.html_url}`;
  },
};

export default tool;
