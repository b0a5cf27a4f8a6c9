// Asks git-lock before an edit, and tells it what the session does. Whatever goes wrong in here is no opinion: an edit
// goes on without us, never fails because of us. What git-lock refuses is thrown, and the agent reads why.
import { spawn } from "node:child_process"

const COMMAND = ["git-lock", "agent-hook", "--harness", "opencode"]
const PATIENCE = 10_000 // milliseconds; git-lock itself gives up after two seconds
const MANY = 1_000 // calls and sessions that are remembered

// Tools that write, under the names that git-lock knows them by. Every other tool costs nothing.
const TOOLS = {
  edit: "edit", write: "write", multiedit: "multiedit", patch: "patch", apply_patch: "apply_patch", bash: "bash",
  shell: "bash",
}
const EVENTS = new Set([
  "session.created", "session.idle", "session.error", "session.deleted", "permission.asked", "permission.updated",
  "permission.replied",
])

// One question to git-lock: an object in, an object out; {} for whatever fails.
function ask(question) {
  return new Promise((resolve) => {
    let answer = ""
    let timer
    const done = (value) => {
      clearTimeout(timer)
      resolve(value)
    }
    try {
      const [program, ...words] = COMMAND
      const child = spawn(program, words, { cwd: question.cwd, stdio: ["pipe", "pipe", "ignore"] })
      timer = setTimeout(() => {
        child.kill("SIGKILL")
        done({})
      }, PATIENCE)
      child.on("error", () => done({}))
      child.stdin.on("error", () => {})
      child.stdout.on("error", () => {})
      child.stdout.setEncoding("utf8")
      child.stdout.on("data", (part) => (answer += part))
      child.on("close", () => {
        try {
          const read = JSON.parse(answer)
          done(read && typeof read === "object" ? read : {})
        } catch {
          done({})
        }
      })
      child.stdin.end(JSON.stringify(question))
    } catch {
      done({})
    }
  })
}

function remember(map, key, value) {
  map.delete(key)
  map.set(key, value)
  if (map.size > MANY) map.delete(map.keys().next().value)
}

// What both versions of the plugin API share: one desk a project.
function desk(cwd) {
  const names = new Map() // session → what its shells are told to be
  const parents = new Map() // child session → the session that it works for
  const calls = new Map() // tool call → its arguments, for versions that do not repeat them afterwards
  const begun = new Map() // session → its beginning, which everything else of it waits for
  const unsaid = new Map() // session → what there was no room for, and is said after the next tool

  const tell = (event, sessionID, more) => ask({ event, sessionID, parentID: parents.get(sessionID), cwd, ...more })

  // A session that was there before us (resumed, or we were added meanwhile) begins when it is first heard of.
  async function begin(sessionID, parentID) {
    if (!sessionID) return
    if (!begun.has(sessionID)) {
      if (parentID) remember(parents, sessionID, parentID)
      const info = { id: sessionID, parentID }
      const asked = tell("session.created", sessionID, { properties: { info } }).then(({ session }) => {
        if (session) remember(names, sessionID, session)
      })
      remember(begun, sessionID, asked)
    }
    await begun.get(sessionID)
  }

  return {
    // The reason for which this call must not happen; empty where there is none.
    async before(tool, sessionID, callID, args) {
      if (!TOOLS[tool]) return ""
      await begin(sessionID)
      remember(calls, callID, args)
      const { deny } = await tell("tool.execute.before", sessionID, { callID, tool: TOOLS[tool], args })
      return typeof deny === "string" ? deny : ""
    },
    // What the agent should read besides the tool's own output.
    async after(tool, sessionID, callID, args) {
      if (!TOOLS[tool]) return ""
      args = args ?? calls.get(callID)
      calls.delete(callID)
      const { context } = await tell("tool.execute.after", sessionID, { callID, tool: TOOLS[tool], args })
      const texts = [unsaid.get(sessionID), context].filter((text) => typeof text === "string" && text)
      unsaid.delete(sessionID)
      return texts.join("\n")
    },
    later(sessionID, text) {
      remember(unsaid, sessionID, text)
    },
    // What the agent should read with the prompt. `again` says that the prompt is our own word.
    async prompt(sessionID, again) {
      await begin(sessionID)
      const { context } = await tell("chat.message", sessionID, { again })
      return typeof context === "string" ? context : ""
    },
    // What the agent should be asked before it sleeps.
    async event(type, properties) {
      if (!EVENTS.has(type)) return ""
      const info = properties?.info ?? {}
      const sessionID = properties?.sessionID ?? info.id
      if (type !== "session.deleted") await begin(sessionID, info.parentID ?? properties?.parentID)
      if (type === "session.created") return ""
      const { context } = await tell(type, sessionID, { properties })
      if (type === "session.deleted") for (const map of [names, parents, begun, unsaid]) map.delete(sessionID)
      return type === "session.idle" && typeof context === "string" ? context : ""
    },
    async name(sessionID) {
      await begin(sessionID)
      return names.get(sessionID)
    },
  }
}

// Nothing but a refusal gets out of here.
async function quietly(work) {
  try {
    return await work()
  } catch {
    return undefined
  }
}

// OpenCode 1
async function server({ directory, client }) {
  const ours = desk(directory)
  const voices = new Map() // session → the agent and the model that answered last

  // A part of the person's message that nobody sees but the agent.
  const enclose = (output, sessionID, text) => {
    const messageID = output?.message?.id
    if (!messageID || !Array.isArray(output.parts)) return ours.later(sessionID, text)
    const id = `prt_gitlock${Date.now()}${Math.random().toString(36).slice(2)}`
    output.parts.push({ id, messageID, sessionID, type: "text", text, synthetic: true })
  }
  return {
    "tool.execute.before": async (input, output) => {
      const deny = await quietly(() => ours.before(input.tool, input.sessionID, input.callID, output?.args))
      if (deny) throw new Error(deny)
    },
    "tool.execute.after": async (input, output) => {
      await quietly(async () => {
        const context = await ours.after(input.tool, input.sessionID, input.callID, input.args)
        if (context && typeof output?.output === "string") output.output += `\n\n${context}`
      })
    },
    "chat.message": async (input, output) => {
      await quietly(async () => {
        const { agent, model } = output?.message ?? {}
        remember(voices, input.sessionID, { agent, model })
        const again = output?.parts?.some((part) => part.text?.startsWith("git-lock: ")) ?? false
        const context = await ours.prompt(input.sessionID, again)
        if (context) enclose(output, input.sessionID, context)
      })
    },
    "shell.env": async (input, output) => {
      await quietly(async () => {
        const name = input.sessionID && (await ours.name(input.sessionID))
        if (name) output.env.GITLOCK_SESSION = name
      })
    },
    event: async ({ event }) => {
      await quietly(async () => {
        const text = await ours.event(event.type, event.properties)
        const id = event.properties?.sessionID
        const parts = [{ type: "text", text, synthetic: true }]
        if (text) await client.session.promptAsync({ path: { id }, body: { ...voices.get(id), parts } })
      })
    },
  }
}

// OpenCode 2
async function setup(ctx) {
  const ours = await quietly(() => desk(ctx.location.directory))
  if (!ours) return undefined
  const call = (event) => event.callID ?? event.toolCallID ?? event.id
  await quietly(() =>
    ctx.tool.hook("execute.before", async (event) => {
      const deny = await quietly(() => ours.before(event.tool, event.sessionID, call(event), event.input))
      if (deny) throw new Error(deny)
    }),
  )
  await quietly(() =>
    ctx.tool.hook("execute.after", async (event) => {
      await quietly(async () => {
        const context = await ours.after(event.tool, event.sessionID, call(event), event.input)
        if (!context) return
        if (typeof event.output === "string") event.output += `\n\n${context}`
        else if (Array.isArray(event.result?.content)) event.result.content.push({ type: "text", text: context })
      })
    }),
  )
  await quietly(() =>
    ctx.session.hook("prompt", async (event) => {
      const context = await quietly(() => ours.prompt(event.sessionID))
      if (context) ours.later(event.sessionID, context)
    }),
  )
  const over = new AbortController()
  quietly(async () => {
    for await (const event of ctx.event.subscribe({ signal: over.signal }))
      await quietly(() => ours.event(event.type, event.data ?? event.properties))
  })
  return () => over.abort()
}

export default { id: "git-lock", server, setup }
