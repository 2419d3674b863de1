-- SPDX-License-Identifier: Apache-2.0
-- The lab's port to Haskell: threads of GHC's runtime for fibers, an MVar for a rendezvous, and a
-- list in an MVar with a semaphore of credit for a channel with room. `lab-haskell WORKLOAD SIZE
-- THREADS` runs one workload once to warm up and once timed, and prints one line of JSON.
module Main (main) where

import Control.Concurrent
import Control.Monad
import Data.IORef
import Data.List (isPrefixOf)
import GHC.Clock (getMonotonicTimeNSec)
import System.CPUTime (getCPUTime)
import System.Environment (getArgs, lookupEnv)
import System.Exit
import System.IO
import Text.Printf (printf)

data Workload = Workload {runIt :: IO Int, expected :: Int, tasks :: Int}

counted, summed :: (Int -> IO Int) -> Int -> Workload
counted run n = Workload (run n) n n
summed run n = Workload (run n) (n * (n - 1) `div` 2) n

workload :: String -> Int -> Maybe Workload
workload name n = case name of
  "skynet-channel" -> Just (Workload (skynet n) (n * (n - 1) `div` 2) ((10 * n - 1) `div` 9))
  "fiber-yield" -> Just (counted yields n)
  "fiber-create" -> Just (counted create n)
  "channel-rendezvous" -> Just (summed rendezvous n)
  "channel-buffered" -> Just (summed buffered n)
  "fibers-blocked" -> Just (counted blocked n)
  _ -> Nothing

-- Starts a thread. Returns an MVar that receives the thread's result at its end.
start :: IO a -> IO (MVar a)
start f = do
  done <- newEmptyMVar
  _ <- forkIO (f >>= \x -> x `seq` putMVar done x)
  return done

skynet :: Int -> IO Int
skynet leaves = do
  result <- newEmptyMVar
  _ <- forkIO (node result 0 leaves)
  takeMVar result
 where
  node above first 1 = putMVar above first
  node above first count = do
    below <- newEmptyMVar -- a child waits until it is empty; ten children send ten messages
    let part = count `div` 10
    forM_ [0 .. 9] $ \i -> forkIO (node below (first + i * part) part)
    total <- collect below (10 :: Int) 0
    putMVar above $! total
  collect _ 0 total = return total
  collect below left total = takeMVar below >>= \x -> collect below (left - 1) $! total + x

yields :: Int -> IO Int
yields n = do
  a <- start (half (n - n `div` 2) 0)
  b <- start (half (n `div` 2) 0)
  (+) <$> takeMVar a <*> takeMVar b
 where
  half share done
    | done == share = return done
    | otherwise = yield >> (half share $! done + 1)

create :: Int -> IO Int
create n = go 0
 where
  go count
    | count == n = return count
    | otherwise = start (return 1) >>= takeMVar >>= \one -> go $! count + one

-- putMVar waits until the former value was taken, so the sender is at most one value ahead.
rendezvous :: Int -> IO Int
rendezvous n = do
  line <- newEmptyMVar
  sender <- start (forM_ [0 .. n - 1] (putMVar line))
  sums <- start (takeAll (takeMVar line) n 0)
  takeMVar sender
  takeMVar sums

takeAll :: IO Int -> Int -> Int -> IO Int
takeAll _ 0 total = return total
takeAll next left total = next >>= \x -> takeAll next (left - 1) $! total + x

buffered :: Int -> IO Int
buffered n = do
  line <- newChan
  room <- newQSem 128
  sender <- start (forM_ [0 .. n - 1] (\x -> waitQSem room >> writeChan line x))
  sums <- start (takeAll (readChan line >>= \x -> signalQSem room >> return x) n 0)
  takeMVar sender
  takeMVar sums

blocked :: Int -> IO Int
blocked n = do
  gate <- newEmptyMVar
  arrived <- newIORef (0 :: Int)
  passed <- newIORef (0 :: Int)
  let add to = atomicModifyIORef' to (\x -> (x + 1, ()))
  ends <- forM [1 .. n] (\_ -> start (add arrived >> readMVar gate >>= \() -> add passed))
  let untilAll = readIORef arrived >>= \now -> when (now < n) (yield >> untilAll)
  untilAll
  putMVar gate ()
  mapM_ takeMVar ends
  readIORef passed

peakRssKib :: IO Int
peakRssKib = do
  text <- readFile "/proc/self/status"
  return (head [read (words line !! 1) | line <- lines text, "VmHWM:" `isPrefixOf` line])

refuse :: String -> IO a
refuse text = hPutStrLn stderr text >> exitFailure

main :: IO ()
main = do
  arguments <- getArgs
  case arguments of
    [name, size, threads] -> do
      setNumCapabilities (read threads)
      let unknown = "no workload is called '" ++ name ++ "'"
      job <- maybe (refuse unknown) return (workload name (read size))
      cold <- lookupEnv "LAB_NO_WARMUP"
      -- The main thread is bound to a thread of the system, and slow.
      let timed = runInUnboundThread (runIt job)
      when (cold == Nothing) (void timed)
      cpuBefore <- getCPUTime
      begin <- getMonotonicTimeNSec
      answer <- timed
      end <- getMonotonicTimeNSec
      cpu <- getCPUTime
      peak <- peakRssKib
      printf
        ("{\"answer\": %d, \"expected\": %d, \"seconds\": %.9f, \"cpu_seconds\": %.6f, "
          ++ "\"tasks\": %d, \"peak_rss_kib\": %d}\n")
        answer (expected job) (fromIntegral (end - begin) / 1e9 :: Double)
        (fromIntegral (cpu - cpuBefore) / 1e12 :: Double) (tasks job) peak
      if answer == expected job then exitSuccess else exitFailure
    _ -> refuse "usage: WORKLOAD SIZE THREADS"
