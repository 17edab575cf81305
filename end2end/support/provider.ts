import { generateKeyPairSync, randomBytes } from "node:crypto";
import { type IncomingMessage, type Server, type ServerResponse, createServer } from "node:http";
import { Provider } from "oidc-provider";
import { freePort } from "./market.js";

/** A person whom the provider knows. */
export type Person = {
  name: string;
  /** Groups as the provider states them; without, it leaves the claim out. */
  groups?: string[];
};

/** The client that the market is to this provider. */
export const client = { id: "quota-marketplace", secret: randomBytes(24).toString("base64url") };

/** An identity provider of this machine, with people, groups and keys that a test may change at any time. */
export class IdentityProvider {
  private inner!: Provider;
  private readonly records = new Records();

  private readonly people = new Map<string, Person>();
  private isBroken = false;

  private constructor(
    private readonly server: Server,
    readonly issuer: string,
    /** Where the market is that this provider knows. */
    readonly market: string,
  ) {
    this.rotateKeys();
    server.on("request", (request, response) => void this.answer(request, response));
  }

  /** Starts a provider on a free port for the market at the address `market`. */
  static async start(market: string): Promise<IdentityProvider> {
    const port = await freePort();
    const server = createServer();
    // Another host name than the market's: to the browser these are two sites, as they are in an organisation.
    const provider = new IdentityProvider(server, `http://localhost:${port}`, market);
    await new Promise<void>((done) => server.listen(port, "localhost", done));
    return provider;
  }

  /** Says what the provider knows of the person with this subject, from the next sign-in on. */
  change(subject: string, person: Person): void {
    this.people.set(subject, person);
  }

  /** Signs with a new key from now on; the old one is gone from the published keys. */
  rotateKeys(): void {
    const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
    const key = { ...privateKey.export({ format: "jwk" }), use: "sig", alg: "RS256" };
    this.inner = new Provider(this.issuer, this.configuration([key]));
    this.inner.on("server_error", (_: unknown, error: Error) => console.error(`provider: ${error.stack}`));
  }

  /** Stops listening. */
  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((done) => this.server.close(done));
  }

  /** Answers the market with an error from now on, or no more. */
  breakTokens(isBroken: boolean): void {
    this.isBroken = isBroken;
  }

  private configuration(keys: object[]) {
    return {
      clients: [
        {
          client_id: client.id,
          client_secret: client.secret,
          redirect_uris: [`${this.market}/sign-in/oidc/callback`],
          post_logout_redirect_uris: [`${this.market}/sign-in`],
        },
      ],
      adapter: (model: string) => this.records.of(model),
      ttl: { AccessToken: 600, AuthorizationCode: 60, Grant: 3600, IdToken: 600, Interaction: 600, Session: 3600 },
      jwks: { keys },
      cookies: { keys: [cookieKey] },
      claims: { openid: ["sub"], profile: ["name", "groups"] },
      features: {
        devInteractions: { enabled: false },
        rpInitiatedLogout: { enabled: true, logoutSource: this.signOutPage },
      },
      interactions: { url: (_: unknown, interaction: { uid: string }) => `/interaction/${interaction.uid}` },
      findAccount: (_: unknown, subject: string) => this.account(subject),
      // The market belongs to the organisation, so nobody is asked whether it may know a name.
      loadExistingGrant: async (context: any) => {
        const grant = new context.oidc.provider.Grant({
          clientId: context.oidc.client.clientId,
          accountId: context.oidc.session.accountId,
        });
        grant.addOIDCScope("openid profile");
        await grant.save();
        return grant;
      },
    };
  }

  private account(subject: string) {
    const person = this.people.get(subject);
    return person && { accountId: subject, claims: async () => ({ sub: subject, ...person }) };
  }

  private readonly signOutPage = async (context: any, form: string): Promise<void> => {
    context.body = page(`${form}<button form="op.logoutForm" name="logout" value="yes">Sign out</button>`);
  };

  /** Its own pages ask who somebody is; everything else is the protocol. */
  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? "/", this.issuer);
    const provider = this.inner;
    try {
      if (this.isBroken && url.pathname === "/token") {
        response.writeHead(503).end();
      } else if (!url.pathname.startsWith("/interaction/")) {
        provider.callback()(request, response);
      } else if (request.method === "GET") {
        response.setHeader("content-type", "text/html; charset=utf-8").end(loginPage);
      } else {
        const form = new URLSearchParams(await body(request));
        const result = form.has("cancel")
          ? { error: "access_denied", error_description: "the person went back" }
          : { login: { accountId: form.get("subject") ?? "" } };
        await provider.interactionFinished(request, response, result);
      }
    } catch (error) {
      response.writeHead(500).end(String(error));
    }
  }
}

/** What the provider keeps, in memory: it outlives a change of keys. */
class Records {
  private readonly records = new Map<string, any>();

  /** The records of one kind, as the provider wants to use them. */
  of(kind: string) {
    const key = (id: string) => `${kind}:${id}`;
    const live = (record: any) => (record && record.endsAt > Date.now() ? record.payload : undefined);
    const all = () => [...this.records.entries()];
    return {
      upsert: async (id: string, payload: object, seconds: number) =>
        void this.records.set(key(id), { payload, endsAt: Date.now() + (seconds ?? 3600) * 1000 }),
      find: async (id: string) => live(this.records.get(key(id))),
      findByUid: async (uid: string) => live(all().find(([name, { payload }]) => name.startsWith(key("")) && payload.uid === uid)?.[1]),
      findByUserCode: async () => undefined,
      consume: async (id: string) => void (this.records.get(key(id)).payload.consumed = Math.floor(Date.now() / 1000)),
      destroy: async (id: string) => void this.records.delete(key(id)),
      revokeByGrantId: async (grant: string) => {
        for (const [name, { payload }] of all()) if (payload.grantId === grant) this.records.delete(name);
      },
    };
  }
}

/** Signs the provider's own cookies; the same across a change of keys, so that who is signed in there stays so. */
const cookieKey = randomBytes(24).toString("base64url");

const loginPage = page(`<form method="post">
  <label>Who are you? <input name="subject" autofocus /></label>
  <button>Continue</button>
  <button name="cancel" value="yes">Cancel</button>
</form>`);

function page(main: string): string {
  return `<!doctype html>
<html lang="en">
  <head><meta charset="utf-8" /><title>Provider</title><link rel="icon" href="data:," /></head>
  <body>${main}</body>
</html>`;
}

async function body(request: IncomingMessage): Promise<string> {
  let text = "";
  for await (const chunk of request) text += chunk;
  return text;
}
