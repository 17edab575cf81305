-- Asks wrk to place bids as many different members: wrk ... -s writes.lua ADDRESS -- TOKENS ACKNOWLEDGED
-- TOKENS names a team and its member's token a line. The ids of bids that the server acknowledged are added to the file
-- ACKNOWLEDGED, also when the server is killed among them.
local threads = {}
function setup(thread)
  thread:set("number", #threads)
  threads[#threads + 1] = thread
end

local members, count, acknowledged = {}, 0, nil
function init(arguments)
  assert(wrk.host == "127.0.0.1" or wrk.host == "localhost", "only a server of this machine is loaded")
  for line in io.lines(arguments[1]) do
    local team, token = line:match("^(%S+) (%S+)$")
    if team then
      local headers = { Authorization = "Bearer " .. token, ["Content-Type"] = "application/json" }
      members[#members + 1] = { path = "/api/v1/teams/" .. team .. "/bids", headers = headers }
    end
  end
  acknowledged = io.open(arguments[2], "a")
  acknowledged:setvbuf("line")
  math.randomseed(os.time() + number)
  run = string.format("load-%x-%x-%d", os.time(), math.random(2 ^ 30), number)
end

local terms = [["terms":{"name":"load","alternatives":[{"chip_type":"type-3","chips":8,"min_chips":1}],"limit":"1.25","work_chip_seconds":86400}}]]
function request()
  count = count + 1
  local member = members[math.random(#members)]
  return wrk.format("POST", member.path, member.headers, string.format('{"id":"%s-%d",%s', run, count, terms))
end

function response(status, headers, body)
  if status == 201 then
    acknowledged:write(body:match('"id":"([^"]+)"'), "\n")
  else
    other = (other or 0) + 1
  end
end

function done(summary, latency, requests)
  local others = 0
  for _, thread in ipairs(threads) do others = others + (thread:get("other") or 0) end
  io.write(string.format("%.0f bids a second, p50 %.1f ms  p99 %.1f ms  longest %.1f ms; %d bids, %d not answered with 201\n",
    summary.requests / summary.duration * 1e6, latency:percentile(50) / 1000, latency:percentile(99) / 1000, latency.max / 1000, summary.requests, others))
end
