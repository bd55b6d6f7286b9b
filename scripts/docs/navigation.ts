// Order of the pages in the documentation site; a page of docs/ that is missing here fails the build.

/** A group of pages in the side bar. */
export type NavigationGroup = { readonly title: string; readonly pages: readonly string[] };

/** The Markdown files of the site, by group. The first page is the start page. */
export const navigation: readonly NavigationGroup[] = [
  {
    title: 'Start',
    pages: [
      'README.md',
      'docs/choosing.md',
      'docs/terminal.md',
      'docs/plan-mode.md',
      'docs/profiles.md',
      'docs/providers.md',
      'docs/embedded.md',
    ],
  },
  {
    title: 'The agent',
    pages: [
      'docs/workspace.md',
      'docs/worktrees.md',
      'docs/tools.md',
      'docs/mcp.md',
      'docs/retrieval.md',
      'docs/project-files.md',
      'docs/agents-files.md',
      'docs/behaviours.md',
      'docs/rules.md',
      'docs/hooks.md',
      'docs/verification.md',
      'docs/flow.md',
      'docs/dlp.md',
      'docs/routing.md',
    ],
  },
  {
    title: 'In your program',
    pages: [
      'docs/agents.md',
      'docs/library.md',
      'docs/patterns.md',
      'docs/testing.md',
      'docs/bridges.md',
      'docs/proxy.md',
      'docs/editors.md',
    ],
  },
  {
    title: 'Server and fleet',
    pages: [
      'docs/server.md',
      'docs/dashboard.md',
      'docs/fleet.md',
      'docs/plans.md',
      'docs/simulation.md',
      'docs/releases.md',
      'docs/deploying.md',
      'docs/evals.md',
      'docs/evals-external.md',
      'docs/operations.md',
      'docs/tracing.md',
      'docs/replay.md',
    ],
  },
  {
    title: 'The project',
    pages: [
      'docs/architecture.md',
      'GLOSSARY.md',
      'SECURITY.md',
      'CONTRIBUTING.md',
      'AGENTS.md',
      'docs/requirements.md',
      'docs/roadmap.md',
      'CHANGELOG.md',
    ],
  },
];
