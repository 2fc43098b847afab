// An OpenID provider on loopback, with npm's oidc-provider. Prints `ready` when it listens.
// usage: node provider.mjs SETTINGS   (JSON: issuer, port, clients, people, algorithm, kid)
// A person signs in by name, with any password, on the library's own pages.
import { generateKeyPairSync } from 'node:crypto'
import { Provider } from 'oidc-provider'

const settings = JSON.parse(process.argv[2])
const kind = settings.algorithm === 'ES256' ? ['ec', { namedCurve: 'P-256' }] : ['rsa', { modulusLength: 2048 }]
const key = generateKeyPairSync(...kind).privateKey.export({ format: 'jwk' })

const provider = new Provider(settings.issuer, {
  clients: settings.clients,
  jwks: { keys: [{ ...key, kid: settings.kid, use: 'sig', alg: settings.algorithm }] },
  cookies: { keys: ['of a test'] },
  conformIdTokenClaims: false,
  scopes: ['openid', 'profile', 'email', 'groups'],
  claims: {
    openid: ['sub'],
    profile: ['preferred_username'],
    email: ['email', 'email_verified'],
    groups: ['groups'],
  },
  pkce: { required: () => true },
  findAccount: (_, id) => ({ accountId: id, claims: () => ({ sub: id, ...settings.people[id] }) }),
})
provider.on('grant.error', (_, error) => console.error('grant', error.message))
provider.on('authorization.error', (_, error) => console.error('authorization', error.message))
provider.listen(settings.port, '127.0.0.1', () => console.log('ready'))
