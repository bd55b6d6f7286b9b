// Logins to APIs: a tool that logs the user in, and HTTP requests with the token of a login.
import { escapeInvisibleLine } from '../../core/index.ts';
import {
  createTokenProvider,
  type ApiLogin,
  type LoginPage,
  fileLogins,
  oauthLogin,
  type OAuthLoginOptions,
  withAuth,
} from '../../tools/oauth/index.ts';
import { withNetwork } from '../../workspace/index.ts';
import { getLoginFiles } from '../protected-paths.ts';
import { emptyIntegration, type Integration, type IntegrationContext, type UserPrompter } from './context.ts';

/** Loads the login tool. No login is read before it is used. */
export async function loadOAuthLogin({
  settings,
  sandboxedWorkspace,
  prompter,
  redactor,
}: IntegrationContext): Promise<Integration> {
  const logins: OAuthLoginOptions = {
    store: fileLogins<ApiLogin>(getLoginFiles(settings).api),
    workspace: withNetwork(sandboxedWorkspace, { privateHosts: settings.privateHosts }),
    addSecret: (name, token) => redactor.addSecret(name, token),
    ...(prompter.isAbsent
      ? {}
      : {
          user: {
            confirmLogin: (name, page, signal) => confirmLogin(prompter, name, page, signal),
            openPage: (url) => openLoginPage(prompter, url),
          },
        }),
  };
  const tokenFor = createTokenProvider(logins);
  return {
    ...emptyIntegration,
    tools: [{ ...oauthLogin(logins), deferred: true }],
    wrapTool: (tool) => (tool.name === 'http_request' ? withAuth(tool, tokenFor) : tool),
  };
}

/** Asks before anything is registered or opened; the question names the issuer and the API that gets the token. */
function confirmLogin(prompter: UserPrompter, name: string, page: LoginPage, signal: AbortSignal): Promise<boolean> {
  const question = `Open a page of ${escapeInvisibleLine(page.issuer)} to log in as ${JSON.stringify(escapeInvisibleLine(name))}? Its token will be sent to ${escapeInvisibleLine(page.api)} and nowhere else.`;
  return prompter.confirm(question, page.url, signal);
}

async function openLoginPage(prompter: UserPrompter, url: string): Promise<void> {
  prompter.notify(`Log in here, if no browser opens: ${escapeInvisibleLine(url)}`);
  const { openInBrowser } = await import('./open-browser.ts');
  openInBrowser(url);
}
