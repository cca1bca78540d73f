// An OpenID provider that others wrote, on a free port of this machine. Whoever signs in has the groups of their name.
import { createRequire } from 'node:module'
import { createServer } from 'node:http'
import { pathToFileURL } from 'node:url'

const [modules, redirectUri, secret] = process.argv.slice(2)
const { Provider } = await import(pathToFileURL(createRequire(modules + '/').resolve('oidc-provider')))

const server = createServer((request, response) => provider.callback()(request, response))
let provider
server.listen(0, '127.0.0.1', () => {
  const issuer = `http://127.0.0.1:${server.address().port}`
  provider = new Provider(issuer, {
    clients: [{
      client_id: 'commonplace',
      redirect_uris: [redirectUri],
      response_types: ['code'],
      ...(secret ? { client_secret: secret } : { token_endpoint_auth_method: 'none' }),
    }],
    claims: { openid: ['sub', 'groups'], email: ['email', 'email_verified'], profile: ['name'] },
    conformIdTokenClaims: false,
    findAccount: (_, id) => ({
      accountId: id,
      claims: () => ({
        sub: id, name: `The ${id}`, groups: [`${id}s`], email: `${id}@example.org`, email_verified: id !== 'stranger',
      }),
    }),
    pkce: { required: () => true },
    cookies: { keys: ['only for this run'] },
  })
  console.log(issuer)
})
process.stdin.on('end', () => process.exit(0)).resume() // whoever started it has gone
