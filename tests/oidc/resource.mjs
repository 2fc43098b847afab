// An authorization server of OAuth 2.1 on loopback for MCP servers, with npm's oidc-provider: it
// registers clients, and gives tokens for a resource. Prints `ready` when it listens.
// usage: node resource.mjs SETTINGS   (JSON: issuer, port, introspector: {id, secret})
import { Provider } from 'oidc-provider'

const { issuer, port, introspector } = JSON.parse(process.argv[2])
const provider = new Provider(issuer, {
  clients: [{
    client_id: introspector.id,
    client_secret: introspector.secret,
    redirect_uris: [],
    response_types: [],
    grant_types: [],
  }],
  cookies: { keys: ['of a test'] },
  features: {
    registration: { enabled: true },
    introspection: { enabled: true, allowedPolicy: () => true },
    revocation: { enabled: true },
    resourceIndicators: {
      enabled: true,
      getResourceServerInfo: (_, resource) => ({
        scope: 'read write', audience: resource, accessTokenFormat: 'opaque', accessTokenTTL: 3600,
      }),
      useGrantedResource: () => true,
    },
  },
  issueRefreshToken: (_, client) => client.grantTypeAllowed('refresh_token'),
  pkce: { required: () => true },
  findAccount: (_, id) => ({ accountId: id, claims: () => ({ sub: id }) }),
})
for (const kind of ['grant', 'authorization', 'registration_create', 'server'])
  provider.on(`${kind}.error`, (_, error) => console.error(kind, error.message, error.error_detail))
provider.on('server_error', (_, error) => console.error(error.stack))
provider.listen(port, '127.0.0.1', () => console.log('ready'))
