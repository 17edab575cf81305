-- Asks wrk to load one page as many different members: wrk ... -s pages.lua ADDRESS -- FILE PATH
-- FILE names a team and its member's token, or cookie, a line; TEAM in PATH stands for the team.
local members, path = {}, "/"

function init(arguments)
  for line in io.lines(arguments[1]) do
    local team, known_by = line:match("^(%S+) (%S+)$")
    if team then
      local is_cookie = known_by:find("=", 1, true)
      local headers = is_cookie and { Cookie = known_by, Accept = "text/html" } or { Authorization = "Bearer " .. known_by }
      members[#members + 1] = { team = team, headers = headers }
    end
  end
  path = arguments[2]
  math.randomseed(os.time())
end

function request()
  local member = members[math.random(#members)]
  return wrk.format("GET", (path:gsub("TEAM", member.team)), member.headers)
end

-- Any answer but 200 is a failed page, a redirect to the sign-in among them.
function response(status)
  if status ~= 200 then other = (other or 0) + 1 end
end
local threads = {}
function setup(thread) threads[#threads + 1] = thread end
function done(summary, latency, requests)
  local others = 0
  for _, thread in ipairs(threads) do others = others + (thread:get("other") or 0) end
  io.write(string.format("p50 %.1f ms  p99 %.1f ms  longest %.1f ms; %d pages, %d not answered with 200\n",
    latency:percentile(50) / 1000, latency:percentile(99) / 1000, latency.max / 1000, summary.requests, others))
end
