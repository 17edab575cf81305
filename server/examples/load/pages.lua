-- Asks wrk to load one page as many different members: wrk ... -s pages.lua ADDRESS -- FILE PATH
-- FILE names a team and its member's token a line; TEAM in PATH stands for the team.
local members, path = {}, "/"

function init(arguments)
  for line in io.lines(arguments[1]) do
    local team, token = line:match("^(%S+) (%S+)$")
    if team then members[#members + 1] = { team = team, token = token } end
  end
  path = arguments[2]
  math.randomseed(os.time())
end

function request()
  local member = members[math.random(#members)]
  local headers = { Authorization = "Bearer " .. member.token }
  return wrk.format("GET", (path:gsub("TEAM", member.team)), headers)
end
