// OAuth logins that tools use: log in, store and refresh tokens.
export { createTokenProvider, type ApiLogin } from './api-login.ts';
export { type LoginPage } from './flow.ts';
export { fileLogins } from './login-store.ts';
export { oauthLogin, type OAuthLoginOptions } from './oauth-login.ts';
export { withAuth } from './with-auth.ts';
