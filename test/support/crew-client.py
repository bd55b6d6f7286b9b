# A client in the shape of CrewAI, with the standard library only: role, goal and task in the prompt, tools as functions, or a text loop that stops at "Observation:".
import json
import sys
import urllib.request

url, style = sys.argv[1], sys.argv[2]
opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
ran = []


def complete(messages, **fields):
    body = json.dumps({"model": "gpt-4o", "messages": messages, **fields}).encode()
    headers = {
        "Content-Type": "application/json",
        "Authorization": "Bearer sk-crew",
        "User-Agent": "OpenAI/Python 2.8.0",
        "X-Stainless-Lang": "python",
    }
    with opener.open(urllib.request.Request(f"{url}/v1/chat/completions", body, headers)) as response:
        return json.load(response)["choices"][0]["message"]


def run(command):
    ran.append(command)
    return "Error: not found"


system = "You are Operator. You keep servers tidy.\nYour personal goal is: Free disk space."
task = "\nCurrent Task: Free disk space.\n\nThis is the expected criteria for your final answer: One sentence.\n\nBegin!"

if style == "functions":
    tool = {
        "type": "function",
        "function": {
            "name": "run",
            "description": "Runs a command.",
            "parameters": {"type": "object", "properties": {"command": {"type": "string"}}, "required": ["command"]},
        },
    }
    messages = [{"role": "system", "content": system}, {"role": "user", "content": task}]
    while True:
        answer = complete(messages, tools=[tool], tool_choice="auto", temperature=0.7)
        messages.append(answer)
        if not answer.get("tool_calls"):
            break
        for call in answer["tool_calls"]:
            result = run(json.loads(call["function"]["arguments"])["command"])
            messages.append({"role": "tool", "tool_call_id": call["id"], "content": result})
else:
    rules = "\nUse this format:\n\nThought: what to do\nAction: run\nAction Input: {\"command\": \"...\"}\nObservation: the result"
    messages = [{"role": "system", "content": system + rules}, {"role": "user", "content": task}]
    while True:
        answer = complete(messages, stop=["\nObservation:"])
        text = answer["content"]
        if "Final Answer:" in text:
            break
        result = run(json.loads(text.split("Action Input:")[1])["command"])
        messages.append({"role": "assistant", "content": f"{text}\nObservation: {result}"})

print(json.dumps({"answer": answer["content"], "ran": ran}))
